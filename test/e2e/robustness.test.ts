import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const MIB = 1024 * 1024
const POLICY = `package app

import rego.v1

echo := input

size := count(input)

one := 1

deny contains "no" if input["new"]
`

const COSTLY = `package costly

import rego.v1

endless := count([1 | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); a + b == -1])

hungry := [x | some a in numbers.range(1, 400); some b in numbers.range(1, 400); x := sprintf("%d %d %s", [a, b, input.text])]
`

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({
    'policies/app.rego': POLICY,
    'policies/costly.rego': COSTLY,
    'policies/static/app.rego': 'package static.app\n\ndeny[x] { x := input.bad }\n',
  })
  tidegate = await startTidegate({
    workspace,
    config: {
      policies: {
        limits: { loopIterations: 3_000_000, maxMemoryBytes: 96 * MIB, recycleMemoryBytes: 32 * MIB },
      },
    },
  })
})

afterAll(async () => {
  expect(tidegate.isRunning()).toBe(true)
  expect(await tidegate.end('SIGTERM')).toBe(0)
  workspace.remove()
})

const post = (path: string, body: string): Promise<Answered> =>
  ask(tidegate.url, { path, body, headers: { 'content-type': 'application/json' } })

async function expectFine(): Promise<void> {
  expect((await postJson(tidegate.url, '/v1/data/app/echo', { input: 'fine' })).text).toMatch(
    /"result":"fine"/,
  )
}

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}

describe('an input that exceeds limits', () => {
  test.each([20_000, 50_000])('nested %d deep is refused or stopped, on every path', async (depth) => {
    for (const path of [
      '/v1/data/app/echo',
      '/v1/data/app',
      '/v1/data',
      '/v0/data/app/echo',
      '/v1/staticPolicy/eval',
    ]) {
      const body = path.startsWith('/v0') ? nested(depth) : `{"input":${nested(depth)}}`
      const answer = await post(path, body)
      expect([400, 500]).toContain(answer.status)
      expect(typeof objectOf(answer)['code']).toBe('string')
    }
    const text = await postJson(tidegate.url, '/v1/staticPolicy/eval', { input: nested(depth) })
    expect([400, 500]).toContain(text.status)
    const flat = await post('/v1/data/app', `{"executionId":${nested(depth)},"payloadConstraint":[]}`)
    expect([400, 500]).toContain(flat.status)
    await expectFine()
  })

  test.each([
    ['a huge exponent', '1e999999999'],
    ['a tiny exponent', '-1e-999999999'],
    ['100,000 digits', '9'.repeat(100_000)],
    ['100,000 places', `0.${'1'.repeat(100_000)}`],
  ])('a number of %s is answered', async (_name, number) => {
    for (const path of ['/v1/data/app/echo', '/v1/data/app']) {
      const answer = await post(path, `{"input":${number}}`)
      expect([200, 400, 500]).toContain(answer.status)
      objectOf(answer)
    }
    await expectFine()
  })

  test('10 MiB are taken, and one byte more is not', async () => {
    const frame = '{"input":""}'
    const taken = await post(
      '/v1/data/app/size',
      frame.replace('""', `"${'x'.repeat(10 * MIB - frame.length)}"`),
    )
    expect([taken.status, objectOf(taken)['result']]).toEqual([200, 10 * MIB - frame.length])
    const refused = await post(
      '/v1/data/app/size',
      frame.replace('""', `"${'x'.repeat(10 * MIB - frame.length + 1)}"`),
    )
    expect([refused.status, objectOf(refused)['code']]).toEqual([413, 'request_too_large'])
    await expectFine()
  })

  test('an evaluation without end is stopped, and the next request is fine', async () => {
    const answer = await postJson(tidegate.url, '/v1/data/costly/endless', { input: {} })
    expect([answer.status, objectOf(answer)['code']]).toEqual([500, 'evaluation_budget_exceeded'])
    await expectFine()
  })

  test('an evaluation that wants more memory than it may is stopped, and the next request is fine', async () => {
    const answer = await postJson(tidegate.url, '/v1/data/costly/hungry', {
      input: { text: 'x'.repeat(5000) },
    })
    expect([answer.status, objectOf(answer)['code']]).toEqual([500, 'evaluation_budget_exceeded'])
    await expectFine()
  })

  test('a member called __proto__ is a member like any other', async () => {
    const answer = await post('/v1/data/app/echo', '{"input":{"__proto__":{"a":1},"constructor":2}}')
    expect(answer.text).toContain('"result":{"__proto__":{"a":1},"constructor":2}')
    await expectFine()
  })
})

describe('callers that misbehave', () => {
  const open = (): Socket => {
    const { hostname, port } = new URL(tidegate.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    return socket
  }
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = open()
      const chunks: Buffer[] = []
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.once('close', () => resolve(Buffer.concat(chunks).toString()))
      socket.write(text)
    })

  test.each([
    ['no HTTP at all', 'hello?\r\n\r\n'],
    ['bytes of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/data HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    ],
    [
      'a length that is no number',
      'POST /v1/data HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n{}',
    ],
    [
      'headers without end',
      `GET / HTTP/1.1\r\nHost: localhost\r\n${'X-Filler: xxxxxxxxxxxxxxxx\r\n'.repeat(2000)}\r\n`,
    ],
    ['a crooked Host', 'GET /decisions HTTP/1.1\r\nHost: a/c\r\nConnection: close\r\n\r\n'],
    ['a path with a backslash', 'GET /decisions\\x HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
    [
      'a broken chunk',
      'POST /v1/data HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    ],
  ])('%s is refused in JSON, and the service lives', async (_name, text) => {
    const answer = await exchange(text)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(answer).toMatch(/\r\n\r\n\{\n {2}"code": "/)
    await expectFine()
  })

  test.each([
    '/%zz',
    '/%00',
    '/decisions/%zz',
    '/health/%ff',
    '/v1/data/%zz',
    '//',
    '/?%zz',
    '/..%2f..%2fetc',
  ])('the path %s is answered in JSON', async (path) => {
    const answer = await ask(tidegate.url, { path })
    expect(answer.status).toBeLessThan(500)
    objectOf(answer)
  })

  test.each([
    ['no Host', 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['a crooked Host', 'GET /health HTTP/1.1\r\nHost: a b/c?d\r\nConnection: close\r\n\r\n'],
    [
      'an absolute target',
      'GET http://elsewhere/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    ],
    [
      'an unknown expectation',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nExpect: magic\r\nConnection: close\r\n\r\n',
    ],
    [
      'an upgrade',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: close, upgrade\r\n\r\n',
    ],
    ['HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n'],
  ])('%s is answered', async (_name, text) => {
    const answer = await exchange(text)
    expect(answer).toMatch(/^HTTP\/1\.1 [24]\d\d /)
    expect(answer).toContain('Content-Type: application/json')
    await expectFine()
  })

  test('requests in one packet are answered in turn', async () => {
    const one = (n: number, more = ''): string =>
      `POST /v1/data/app/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n${more}\r\n{"input":${String(n).padStart(3, ' ')}}`
    const answer = await exchange(one(1) + one(22) + one(333, 'Connection: close\r\n'))
    expect([...answer.matchAll(/"result":(\d+)/g)].map(([, result]) => result)).toEqual(['1', '22', '333'])
  })

  test('a body in chunks, however small, is read as one', async () => {
    const chunks = Array.from(
      '{"input":["é",7]}',
      (char) => `${Buffer.byteLength(char).toString(16)}\r\n${char}\r\n`,
    )
    const head =
      'POST /v1/data/app/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
    expect(await exchange(`${head}${chunks.join('')}0\r\n\r\n`)).toContain('"result":["é",7]')
  })

  test('a body over the limit without a length is refused too', async () => {
    const socket = open()
    const received: string[] = []
    socket.on('data', (chunk: Buffer) => received.push(chunk.toString()))
    socket.write('POST /v1/data/app/echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
    for (let sent = 0; sent <= 161; sent++) socket.write(chunk)
    await waitUntil(
      () => (received.join('').includes(' 413 ') ? true : undefined),
      () => 'the body is taken for ever',
    )
    socket.destroy()
    await expectFine()
  })

  test('clients that disconnect during a request or a response harm no one', async () => {
    const gone = Array.from({ length: 50 }, async (_, n) => {
      const socket = open()
      await new Promise((resolve) => socket.once('connect', resolve))
      const whole = `POST /v1/data/app/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 13\r\n\r\n{"input":123}`
      await new Promise((resolve) => socket.write(whole.slice(0, 40 + n * 2), resolve))
      socket.destroy()
    })
    await Promise.all(gone)
    await expectFine()
  })

  test('slow clients delay no one', async () => {
    const slow = Array.from({ length: 20 }, open)
    for (const socket of slow)
      socket.write('POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"inp')
    await expectFine()
    for (const socket of slow) socket.destroy()
  })

  test('200 simultaneous connections are all answered', async () => {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => postJson(tidegate.url, '/v1/data/app/echo', { input: n })),
    )
    expect(answers.map((answer) => objectOf(answer)['result'])).toEqual(
      Array.from({ length: 200 }, (_, n) => n),
    )
  })
})
