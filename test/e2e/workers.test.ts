import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:http'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'

import { callUntilClosed } from '../support/keep-alive-client.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { ServeSettings, TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const CONNECTIONS = 16
const policy = (version: number): string => `package app

import rego.v1

version := ${version}

conflict := 1 if input.a

conflict := 2 if input.a

slow := count([x | some x in numbers.range(1, 60000); x % 7 == input.a])
`

let workspace: Workspace | undefined
let tidegate: TidegateProcess | undefined

afterEach(async () => {
  await tidegate?.end('SIGKILL')
  workspace?.remove()
})

async function start(config: ServeSettings['config'] = {}, args: string[] = []): Promise<TidegateProcess> {
  workspace = makeWorkspace({ 'policies/app.rego': policy(1) })
  const server = { ...config['server'], workers: 2 }
  const started = await startTidegate({ workspace, args, config: { ...config, server } })
  tidegate = started
  await untilWorkersServe(started, 1)
  return started
}

async function untilWorkersServe({ log, logText }: TidegateProcess, count: number): Promise<void> {
  await waitUntil(
    () => log().filter(({ msg }) => msg === 'worker process serves')[count - 1],
    () => `workers do not serve: ${logText()}`,
  )
}

/**
 * Sends a request over a separate connection. Returns the response and its process, identified by
 * the numbering of its requests.
 */
async function callNewConnection(
  { url }: TidegateProcess,
  path: string,
  { method = 'POST', body = '{"input":{"a":1}}', token = 'none' } = {},
): Promise<{ status: number; text: string; process: string }> {
  return await new Promise((resolve, reject) => {
    const agent = new Agent()
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const request = startRequest(new URL(path, url), { agent, method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('end', () => {
        const process = String(answer.headers['x-request-id']).split('-')[0] ?? ''
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString(), process })
      })
    })
    request.once('error', reject)
    request.end(method === 'GET' ? undefined : body)
  })
}

/** Sends requests over many connections, repeatedly until both processes have answered. */
async function callBoth(
  service: TidegateProcess,
  path: string,
  options?: Parameters<typeof callNewConnection>[2],
): Promise<Awaited<ReturnType<typeof callNewConnection>>[]> {
  const answers = []
  for (let round = 0; round < 20; round += 1) {
    const some = Array.from({ length: CONNECTIONS }, () => callNewConnection(service, path, options))
    answers.push(...(await Promise.all(some)))
    if (distinct(answers.map(({ process }) => process)) === 2) return answers
  }
  throw new Error(`only one process answers: ${service.logText()}`)
}

const distinct = (values: readonly string[]): number => new Set(values).size

async function figure({ url }: TidegateProcess, line: string): Promise<number> {
  const { text } = await ask(url, { path: '/metrics' })
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(line))
      ?.split(' ')
      .at(-1) ?? NaN,
  )
}

describe('a service with two processes that decide', () => {
  test('answers from both, with one decision log and one set of metrics', async () => {
    const service = await start()
    const answers = await callBoth(service, '/v1/data/app/version')
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const counted = await figure(service, 'tidegate_evaluations_total{kind="data",outcome="defined"}')
    expect(counted).toBe(answers.length)
    expect(await figure(service, 'tidegate_evaluation_fuel_count{package="app"}')).toBeGreaterThan(1)
    const { text } = await ask(service.url, { path: '/decisions?limit=500' })
    const { decisions } = JSON.parse(text) as { decisions: { requestId: string }[] }
    expect(decisions).toHaveLength(answers.length)
    expect(distinct(decisions.map(({ requestId }) => requestId.split('-')[0] ?? ''))).toBe(2)
    expect(await service.end('SIGTERM')).toBe(0)
    expect(service.logText()).not.toContain('"level":"error"')
  })

  test('gives equal answers, including errors and slow evaluations', async () => {
    const service = await start()
    for (const path of [
      '/v1/data/app/conflict',
      '/v1/data/app/slow',
      '/v1/data/app/nothing',
      '/v1/nowhere',
    ]) {
      const answers = await callBoth(service, path)
      const texts = answers.map(({ text }) =>
        text.replace(/"decision_id":\s*"[^"]+"|"requestId":\s*"[^"]+"/gi, ''),
      )
      expect([path, distinct(texts)]).toEqual([path, 1])
    }
    const costed = await callBoth(service, '/v1/data/app/slow?metrics')
    const fuel = costed.map(
      ({ text }) =>
        (JSON.parse(text) as { metrics?: { counter_evaluation_fuel: number } }).metrics
          ?.counter_evaluation_fuel,
    )
    expect(fuel.every((each) => each !== undefined && each > 60_000)).toBe(true)
    const [conflict] = await callBoth(service, '/v1/data/app/conflict')
    expect(conflict?.text).toContain('app.rego')
    expect(conflict?.text).toContain('complete rules must not produce multiple outputs')
  })

  test('answers other requests at any process', async () => {
    const service = await start()
    const events = await Promise.all(
      Array.from({ length: CONNECTIONS }, (_, n) =>
        callNewConnection(service, '/platform/echo', {
          body: JSON.stringify({ eventId: `e${n}`, details: { type: 'x' } }),
        }),
      ),
    )
    expect(distinct(events.map(({ status }) => String(status)))).toBe(1)
    const health = await callBoth(service, '/health?plugins', { method: 'GET' })
    expect(health.map(({ status }) => status)).toEqual(health.map(() => 200))
    const large = JSON.stringify({ input: { a: 'x'.repeat(300_000) } })
    const sized = await callBoth(service, '/v1/data/app/version', { body: large })
    expect(sized.map(({ status }) => status)).toEqual(sized.map(() => 200))
  })

  test('refuses the same clients at both', async () => {
    const sha256 = createHash('sha256').update('secret').digest('hex')
    const service = await start({ auth: { tokens: [{ name: 'spin', roles: ['orchestrator'], sha256 }] } })
    const refused = await callBoth(service, '/v1/data/app/version')
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403))
    const known = await callBoth(service, '/v1/data/app/version', { token: 'secret' })
    expect(known.map(({ status }) => status)).toEqual(known.map(() => 200))
    const forbidden = await callBoth(service, '/metrics', { method: 'GET', token: 'secret' })
    expect(forbidden.map(({ status }) => status)).toEqual(forbidden.map(() => 403))
  })

  test('serves saved policies from all once it reports them', async () => {
    const service = await start({}, ['--watch'])
    for (const version of [2, 3]) {
      workspace?.write({ 'policies/app.rego': policy(version) })
      await waitUntil(
        () => service.log().filter(({ msg }) => msg === 'policies loaded')[version - 1],
        () => service.logText(),
      )
      const answers = await callBoth(service, '/v1/data/app/version')
      const results = answers.map(({ text }) => (JSON.parse(text) as { result: number }).result)
      expect(results).toEqual(results.map(() => version))
    }
  })

  test('serves the same data from all, even if the folder for them is damaged', async () => {
    const service = await start({}, ['--watch'])
    const folder = join(workspace?.path ?? '', 'data', 'workers')
    const serves = async (version: number): Promise<void> => {
      await waitUntil(
        () => service.log().filter(({ msg }) => msg === 'policies loaded')[version - 1],
        () => service.logText(),
      )
      const answers = await callBoth(service, '/v1/data/roles/version')
      const results = answers.map(({ text }) => (JSON.parse(text) as { result: number }).result)
      expect(results).toEqual(results.map(() => version))
    }
    // More than a message to another process carries.
    const names = Array.from({ length: 100_000 }, (_, number) => `person-${number}`)
    const save = (version: number): void => {
      workspace?.write({ 'policies/data.json': JSON.stringify({ roles: { version, names } }) })
    }
    save(2)
    await serves(2)
    rmSync(folder, { recursive: true })
    save(3)
    await serves(3)
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    save(4)
    await waitUntil(
      () => service.logText().includes('cannot write base documents for worker processes') || undefined,
      () => service.logText(),
    )
    await serves(3)
    // These are passed as messages, and the previous file cannot be removed.
    workspace?.write({ 'policies/data.json': JSON.stringify({ roles: { version: 4 } }) })
    await serves(4)
    rmSync(folder)
    save(5)
    await serves(5)
  })
})

function workersOf({ pid }: TidegateProcess): number[] {
  const found = execFileSync('pgrep', ['-f', '-P', String(pid), 'threads/worker'])
  return found.toString().trim().split('\n').map(Number)
}

describe('a killed worker process', () => {
  test.skipIf(process.platform !== 'linux')('gives large blocks of memory back to the system', async () => {
    const service = await start()
    const [worker = 0] = workersOf(service)
    const environment = readFileSync(`/proc/${worker}/environ`, 'utf8').split('\0')
    expect(environment).toEqual(
      expect.arrayContaining([
        'MALLOC_MMAP_THRESHOLD_=131072',
        'MALLOC_TRIM_THRESHOLD_=16777216',
        'MALLOC_ARENA_MAX=2',
      ]),
    )
    expect(await service.end('SIGTERM')).toBe(0)
  })

  test('is replaced; its requests end with an error, and its counts and acknowledged records are kept', async () => {
    const service = await start()
    await callBoth(service, '/v1/data/app/version')
    const counted = await figure(service, 'tidegate_evaluations_total{kind="data",outcome="defined"}')
    const slow = Array.from({ length: 12 }, () =>
      callNewConnection(service, '/v1/data/app/slow').then(
        ({ status }) => status,
        () => 'cut',
      ),
    )
    const [worker = 0] = workersOf(service)
    process.kill(worker, 'SIGKILL')
    const ends = await Promise.all(slow)
    expect(ends.filter((end) => end !== 200 && end !== 'cut' && end !== 503)).toEqual([])
    await untilWorkersServe(service, 2)
    const answers = await callBoth(service, '/v1/data/app/version')
    expect(await figure(service, 'tidegate_thread_deaths_total{thread="a worker"}')).toBe(1)
    expect(
      await figure(service, 'tidegate_evaluations_total{kind="data",outcome="defined"}'),
    ).toBeGreaterThanOrEqual(counted + answers.length)
    expect(await service.end('SIGTERM')).toBe(0)
  })

  test('ends when the main process is killed', async () => {
    const service = await start()
    const workers = workersOf(service)
    await service.end('SIGKILL')
    await waitUntil(
      () => workers.every((pid) => !isRunning(pid)) || undefined,
      () => 'a worker process is still running',
    )
  })
})

test('a service with two processes cuts no request when it is stopped', async () => {
  const service = await start()
  const body = '{"input":{"a":1}}'
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const calls = Array.from({ length: 40 }, (_, n) =>
    callUntilClosed(
      service.url,
      n % 3 === 0
        ? 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
        : `POST /v1/data/app/version HTTP/1.1\r\n${head}${body}`,
      n % 5,
    ),
  )
  for (let n = 0; n < 20; n += 1)
    expect(objectOf(await postJson(service.url, '/v1/data/app/version', {}))).toBeDefined()
  expect(await service.end('SIGTERM')).toBe(0)
  const outcomes = await Promise.all(calls)
  expect(outcomes.filter(({ isCut }) => isCut)).toEqual([])
  expect(outcomes.every(({ answered }) => answered > 0)).toBe(true)
})

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
