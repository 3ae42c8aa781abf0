import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { openRaw } from '../support/http-transports.js'
import { startTidegate, untilLogged } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const POLICY = 'policies/app.rego'

function policy(version: number): string {
  return `package app\n\nimport rego.v1\n\nversion := ${version}\n\ndeny contains "x" if false\n`
}

async function versionServed(url: string): Promise<number> {
  const answer = await postJson(url, '/v1/data/app/version', { input: {} })
  expect(answer.status).toBe(200)
  return Number(objectOf(answer)['result'])
}

describe('a service at work', () => {
  const workspace = makeWorkspace()
  let tidegate: TidegateProcess
  const get = (path: string, headers = {}): Promise<Answered> => ask(tidegate.url, { path, headers })

  beforeAll(async () => {
    workspace.write({ [POLICY]: policy(1) })
    tidegate = await startTidegate({ workspace })
  })

  afterAll(async () => {
    await tidegate.end('SIGTERM')
    workspace.remove()
  })

  test('health is an empty object', async () => {
    for (const path of ['/health', '/health?bundles=false', '/health?nothing']) {
      const answer = await get(path)
      expect([answer.status, answer.text]).toEqual([200, '{}\n'])
    }
  })

  test('health answers HEAD without a body', async () => {
    const answer = await ask(tidegate.url, { method: 'HEAD', path: '/health' })
    expect([answer.status, answer.text]).toEqual([200, ''])
  })

  test.each(['/health', '/livez', '/readyz', '/v1/opa/failOpen'])(
    '%s answers HEAD, and what comes behind it on the same connection',
    async (path) => {
      const { socket, answered } = openRaw(Number(new URL(tidegate.url).port))
      socket.write(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
      expect((await answered).match(/^HTTP\/1.1 200 /gm)).toHaveLength(2)
    },
  )

  test.each(['/health?bundles', '/health?bundle=true', '/health/?bundles'])(
    '%s shows what serves',
    async (path) => {
      const { bundles } = objectOf(await get(path))
      expect(bundles).toMatchObject({
        revision: expect.stringMatching(/^sha256:[0-9a-f]+$/) as string,
        activatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      })
      expect(bundles).not.toHaveProperty('failure')
    },
  )

  test('health shows the parts of the service, but for those left out', async () => {
    const { plugins: all } = objectOf(await get('/health?plugins'))
    expect(all).toMatchObject({ decision_logs: { state: 'OK' } })
    const names = Object.keys(all as object)
    const { plugins: others = {} } = objectOf(await get('/health?plugins&exclude-plugin=decision_logs'))
    expect(Object.keys(others as object)).toEqual(names.filter((name) => name !== 'decision_logs'))
    const query = names.map((name) => `exclude-plugin=${name}`).join('&')
    expect(objectOf(await get(`/health?plugins&${query}`))).toEqual({})
  })

  test('the root says who answers', async () => {
    expect(objectOf(await get('/'))).toMatchObject({ service: 'tidegate' })
  })

  test('metrics count requests by route and status, decisions, loads and the process', async () => {
    await versionServed(tidegate.url)
    await postJson(tidegate.url, '/v1/data/app', 5)
    await get('/nowhere')
    const answer = await get('/metrics')
    expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
    for (const line of [
      /^http_request_duration_seconds_count\{code="200",handler="v1\/data",method="post"\} [1-9]/m,
      /^http_request_duration_seconds_count\{code="400",handler="v1\/data",method="post"\} 1$/m,
      /^http_request_duration_seconds_count\{code="404",handler="unmatched",method="get"\} [1-9]/m,
      /^tidegate_evaluations_total\{kind="data",outcome="defined"\} [1-9]/m,
      /^tidegate_policy_loads_total\{result="success"\} 1$/m,
      /^tidegate_policy_load_duration_seconds \d/m,
      /^tidegate_decision_log_written_total \d/m,
      /^process_cpu_seconds_total /m,
      /^nodejs_eventloop_lag_seconds /m,
    ])
      expect(answer.text).toMatch(line)
    expect(answer.text).not.toContain('nowhere')
  })

  test('a request id is given back, one is made where there is none, and a crooked one is replaced', async () => {
    const path = '/health'
    expect((await get(path, { 'x-request-id': 'caller-1:a.b' })).headers['x-request-id']).toBe('caller-1:a.b')
    const made = (await get(path)).headers['x-request-id']
    expect(made).toMatch(/^[\w-]+$/)
    expect((await get(path)).headers['x-request-id']).not.toBe(made)
    const crooked = await get(path, { 'x-request-id': 'a b"{' })
    expect(crooked.headers['x-request-id']).toMatch(/^[\w-]+$/)
  })

  test('a refused request is in the log with its id, its status and its reason', async () => {
    await postJson(tidegate.url, '/v1/data/app', 5, {
      'x-request-id': 'refused-1',
      'x-spinnaker-user': 'ana',
    })
    const line = await waitUntil(
      () => tidegate.log().find(({ requestId }) => requestId === 'refused-1'),
      () => tidegate.logText(),
    )
    expect(line).toMatchObject({
      level: 'info',
      method: 'POST',
      path: '/v1/data/app',
      status: 400,
      code: 'invalid_parameter',
      caller: 'claimed:ana',
    })
  })

  test('a line break in a path or a user does not make a line of the log', async () => {
    await get('/no%0awhere', { 'x-spinnaker-user': 'ana%0a{"msg":"forged"}' })
    await waitUntil(
      () => tidegate.log().find(({ path }) => path === '/no%0awhere'),
      () => tidegate.logText(),
    )
    expect(tidegate.log().some(({ msg }) => msg === 'forged')).toBe(false)
  })
})

describe('a shutdown', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets a request under way end, and exits with 0',
    async (signal) => {
      const workspace = makeWorkspace()
      workspace.write({ [POLICY]: policy(1) })
      const tidegate = await startTidegate({ workspace })
      const { hostname, port } = new URL(tidegate.url)
      const socket = connect(Number(port), hostname)
      const received: string[] = []
      socket.on('data', (chunk: Buffer) => received.push(chunk.toString()))
      const closed = new Promise((resolve) => socket.once('close', resolve))
      // The service tells that it has the head of the request by asking for the body.
      socket.write(
        'POST /v1/data/app/version HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n',
      )
      await waitUntil(
        () => (received.join('').includes('100 Continue') ? true : undefined),
        () => 'the request has not arrived',
      )
      const ended = tidegate.end(signal)
      await waitUntil(
        () => tidegate.log().find(({ msg }) => msg === 'shutting down'),
        () => tidegate.logText(),
      )
      socket.write('{"input":{}}')
      await closed
      expect(received.join('')).toContain('"result":1')
      expect(await ended).toBe(0)
      expect(tidegate.log().at(-1)?.msg).toBe('shut down')
      workspace.remove()
    },
  )

  test('what does not end in time is refused, and the exit code is still 0', async () => {
    const workspace = makeWorkspace()
    workspace.write({ [POLICY]: policy(1) })
    const tidegate = await startTidegate({ workspace, config: { server: { drainSeconds: 0 } } })
    const { hostname, port } = new URL(tidegate.url)
    const socket = connect(Number(port), hostname)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const received: string[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk.toString()))
    socket.on('error', () => undefined)
    socket.write('POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Length: 12\r\n\r\n{"in')
    await ask(tidegate.url, { path: '/health' })
    expect(await tidegate.end('SIGTERM')).toBe(0)
    await closed
    expect(received.join('')).toMatch(/^HTTP\/1\.1 503 [^]*the service is stopping/)
    workspace.remove()
  })
})

describe('with --watch', () => {
  test('a broken save fails no request and shows; a good one serves within a second', async () => {
    const workspace = makeWorkspace()
    workspace.write({ [POLICY]: policy(1) })
    const tidegate = await startTidegate({ workspace, args: ['--watch'] })
    const seen = new Set<number>()
    let isAsking = true
    const callers = Array.from({ length: 4 }, async () => {
      while (isAsking) seen.add(await versionServed(tidegate.url))
    })

    workspace.write({ [POLICY]: 'package app\n\nversion := {' })
    const failure = await waitUntil(
      async () => {
        const { bundles } = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))
        return (bundles as { failure?: { errors: unknown } }).failure
      },
      () => 'the failure does not show',
    )
    expect(failure.errors).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          code: 'rego_parse_error',
          location: expect.objectContaining({ file: 'app.rego', row: 3 }) as object,
        }),
      ]),
    )
    expect((await untilLogged(tidegate, ({ level }) => level === 'error')).msg).toMatch(
      /last good ones serve on/,
    )
    expect(await versionServed(tidegate.url)).toBe(1)

    const savedAt = Date.now()
    workspace.write({ [POLICY]: policy(2) })
    const servedAt = await waitUntil(
      async () => ((await versionServed(tidegate.url)) === 2 ? Date.now() : undefined),
      () => 'the new policy does not serve',
    )
    isAsking = false
    await Promise.all(callers)
    expect(seen).toEqual(new Set([1, 2]))
    // The promise is one second on a machine of its own; the tests share theirs.
    expect(servedAt - savedAt).toBeLessThan(5000)
    const { bundles } = objectOf(await ask(tidegate.url, { path: '/health?bundles' }))
    expect(bundles).not.toHaveProperty('failure')

    const metrics = await ask(tidegate.url, { path: '/metrics' })
    expect(metrics.text).toMatch(/^tidegate_policy_loads_total\{result="failure"\} [1-9]/m)
    expect(await tidegate.end('SIGTERM')).toBe(0)
    workspace.remove()
  })
})
