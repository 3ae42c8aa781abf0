import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'

import { openRaw, sendRaw, startTestServer } from '../../support/http-transports.js'
import type { TestServer } from '../../support/http-transports.js'
import { waitUntil } from '../../support/wait-until.js'

const BODY = '{"input":{"a":1}}'

let server: TestServer

beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.close())

/** Builds a request from lines, with the usual ones by default. */
function request({
  line = 'POST /v1/data/app/allow HTTP/1.1',
  headers = ['Host: localhost:8181', 'Content-Type: application/json', `Content-Length: ${BODY.length}`],
  body = BODY,
}: {
  readonly line?: string
  readonly headers?: readonly string[]
  readonly body?: string
} = {}): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`
}

const HOST = 'Host: localhost'
const LENGTH = `Content-Length: ${BODY.length}`
const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`

const PLAIN: readonly (readonly [string, string])[] = [
  ['a plain request', request()],
  ['a static policy', request({ line: 'POST /v1/staticPolicy/eval HTTP/1.1' })],
  ['a query', request({ line: 'POST /v1/data/app/allow?pretty=true&metrics HTTP/1.1' })],
  ['percent escapes', request({ line: 'POST /v1/data/app/a%2Fb HTTP/1.1' })],
  ['a trailing slash', request({ line: 'POST /v1/data/app/ HTTP/1.1' })],
  ['no space behind a colon', request({ headers: [HOST, 'Content-Type:text/plain', LENGTH] })],
  ['names in capitals', request({ headers: ['HOST: a', `CONTENT-LENGTH: ${BODY.length}`] })],
  ['an empty body', request({ headers: [HOST, 'Content-Length: 0'], body: '' })],
  ['a kept connection', request({ headers: [HOST, LENGTH, 'Connection: Keep-Alive'] })],
  ['the end of the connection', request({ headers: [HOST, LENGTH, 'Connection: close'] })],
  ['an id of its own', request({ headers: [HOST, LENGTH, 'X-Request-Id: of-the-caller'] })],
  ['a user', request({ headers: [HOST, LENGTH, 'X-Spinnaker-User: ana b'] })],
  ['a GET', request({ line: 'GET /v1/data/app/allow HTTP/1.1', headers: [HOST], body: '' })],
  ['a probe', request({ line: 'GET /health?plugins HTTP/1.1', headers: [HOST], body: '' })],
  [
    'an input in the query',
    request({ line: 'GET /v1/data/app?input=%7B%22a%22%3A1%7D HTTP/1.1', headers: [HOST], body: '' }),
  ],
]

const UNUSUAL: readonly (readonly [string, string])[] = [
  ['chunks', request({ headers: [HOST, 'Transfer-Encoding: chunked'], body: CHUNKED })],
  ['a length and chunks', request({ headers: [HOST, LENGTH, 'Transfer-Encoding: chunked'], body: CHUNKED })],
  ['a coding that hides', request({ headers: [HOST, LENGTH, 'Transfer-Encoding: xchunked'] })],
  ['two equal lengths', request({ headers: [HOST, LENGTH, LENGTH] })],
  ['two unequal lengths', request({ headers: [HOST, LENGTH, 'Content-Length: 3'] })],
  ['a list of lengths', request({ headers: [HOST, 'Content-Length: 17, 17'] })],
  ['a negative length', request({ headers: [HOST, 'Content-Length: -1'] })],
  ['a length with a plus', request({ headers: [HOST, 'Content-Length: +17'] })],
  ['a length with a zero before', request({ headers: [HOST, 'Content-Length: 017'] })],
  ['a length in hex', request({ headers: [HOST, 'Content-Length: 0x11'] })],
  ['a huge length', request({ headers: [HOST, 'Content-Length: 99999999999999999999999'] })],
  ['no length', request({ headers: [HOST], body: '' })],
  ['a folded line', request({ headers: [HOST, 'X-Long: a', ' b', LENGTH] })],
  ['a space before the colon', request({ headers: [HOST, `Content-Length : ${BODY.length}`] })],
  ['a tab behind the colon', request({ headers: [HOST, `Content-Length:\t${BODY.length}`] })],
  ['a space behind a value', request({ headers: [HOST, `${LENGTH} `] })],
  ['a line end without its return', `POST /v1/data/a HTTP/1.1\nHost: a\nContent-Length: 0\n\n`],
  ['one line end without its return', request({ headers: [HOST, `X-A: b\n${LENGTH}`] })],
  ['a return alone', request({ headers: [HOST, `X-A: b\rX-B: c`, LENGTH] })],
  ['a zero byte', request({ headers: [HOST, 'X-A: b\0c', LENGTH] })],
  ['a name beyond ASCII', request({ headers: [HOST, 'X-\u00e4: b', LENGTH] })],
  ['a value beyond ASCII', request({ headers: [HOST, 'X-Spinnaker-User: \u00e4', LENGTH] })],
  ['an empty value', request({ headers: [HOST, 'X-A:', LENGTH] })],
  ['a name with an underscore', request({ headers: [HOST, 'Content_Length: 3', LENGTH] })],
  ['a line without a colon', request({ headers: [HOST, 'nonsense', LENGTH] })],
  ['no host', request({ headers: [LENGTH] })],
  ['two hosts', request({ headers: [HOST, 'Host: other', LENGTH] })],
  ['a host with a path', request({ headers: ['Host: a/b', LENGTH] })],
  ['an upgrade', request({ headers: [HOST, LENGTH, 'Connection: Upgrade', 'Upgrade: h2c'] })],
  ['an expectation', request({ headers: [HOST, LENGTH, 'Expect: 100-continue'] })],
  ['an expectation of something else', request({ headers: [HOST, LENGTH, 'Expect: tea'] })],
  ['a GET with a body', request({ line: 'GET /v1/data/app HTTP/1.1' })],
  [
    'a GET with no bytes of a body',
    request({ line: 'GET /v1/data/app HTTP/1.1', headers: [HOST, 'Content-Length: 0'], body: '' }),
  ],
  [
    'a GET in chunks',
    request({
      line: 'GET /v1/data/app HTTP/1.1',
      headers: [HOST, 'Transfer-Encoding: chunked'],
      body: CHUNKED,
    }),
  ],
  [
    'a GET and what comes behind it',
    request({ line: 'GET /v1/data/app HTTP/1.1', headers: [HOST], body: 'GET' }),
  ],
  ['a HEAD', request({ line: 'HEAD /v1/data/app HTTP/1.1', headers: [HOST], body: '' })],
  ['a GET of what else there is', request({ line: 'GET /metrics HTTP/1.1', headers: [HOST], body: '' })],
  ['HTTP/1.0', request({ line: 'POST /v1/data/app HTTP/1.0' })],
  ['HTTP/2', request({ line: 'POST /v1/data/app HTTP/2.0' })],
  ['HTTP/0.9', 'POST /v1/data/app\r\n\r\n'],
  ['another method', request({ line: 'PUT /v1/data/app HTTP/1.1' })],
  ['a method in small letters', request({ line: 'post /v1/data/app HTTP/1.1' })],
  ['another path', request({ line: 'POST /v1/dataset HTTP/1.1' })],
  ['a path below the static policies', request({ line: 'POST /v1/staticPolicy/eval/x HTTP/1.1' })],
  ['a whole URL', request({ line: 'POST http://a/v1/data/app HTTP/1.1' })],
  ['a fragment', request({ line: 'POST /v1/data/app#b HTTP/1.1' })],
  ['a backslash', request({ line: 'POST /v1/data\\app HTTP/1.1' })],
  ['two spaces', request({ line: 'POST  /v1/data/app HTTP/1.1' })],
  ['an empty line before', `\r\n${request()}`],
  ['two requests at once', request() + request({ line: 'POST /v1/data/second HTTP/1.1' })],
  ['a plain request and nonsense behind it', `${request()}nonsense`],
  ['a head beyond the bound', request({ headers: [HOST, LENGTH, `X-A: ${'a'.repeat(9000)}`] })],
  ['headers beyond every bound', request({ headers: [HOST, LENGTH, `X-A: ${'a'.repeat(20_000)}`] })],
  ['something that is no HTTP', '\x16\x03\x01\x02\x00\x01\x00'],
]

/** Malformed requests, or requests that two HTTP parsers could read differently. */
const REFUSED: ReadonlySet<string> = new Set([
  'a coding that hides',
  'a folded line',
  'a huge length',
  'a length and chunks',
  'a length in hex',
  'a length with a plus',
  'a line end without its return',
  'a line without a colon',
  'a list of lengths',
  'a method in small letters',
  'a name beyond ASCII',
  'a negative length',
  'a return alone',
  'a space before the colon',
  'a zero byte',
  'headers beyond every bound',
  'no host',
  'one line end without its return',
  'something that is no HTTP',
  'two equal lengths',
  'two hosts',
  'two unequal lengths',
])

async function statusesOf(text: string): Promise<(string | undefined)[]> {
  const answer = await sendRaw(server.port, Buffer.from(text, 'latin1'))
  return [...answer.matchAll(/^HTTP\/1\.1 (?<status>\d{3}) /gm)].map(({ groups }) => groups?.['status'])
}

describe('a request of the usual form', () => {
  it.each(PLAIN)('with %s is answered once', async (_, text) => {
    server.arrivals.length = 0
    expect(await statusesOf(text)).toEqual(['200'])
    expect(server.arrivals).toHaveLength(1)
  })
})

describe('a request of another form', () => {
  it.each(UNUSUAL.filter(([name]) => !REFUSED.has(name)))('with %s is answered', async (name, text) => {
    server.arrivals.length = 0
    expect((await statusesOf(text)).at(-1)).toBe('200')
    expect(server.arrivals).toHaveLength(name === 'two requests at once' ? 2 : 1)
  })

  it.each(UNUSUAL.filter(([name]) => REFUSED.has(name)))(
    'with %s is refused before anything handles it',
    async (_, text) => {
      server.arrivals.length = 0
      expect(await statusesOf(text)).toEqual([expect.stringMatching(/^4(?:00|31)$/)])
      expect(server.arrivals).toEqual([])
    },
  )
})

describe('a connection', () => {
  it('read a request that comes in parts', async () => {
    const text = request()
    const headEnd = text.indexOf('\r\n\r\n') + 4
    server.arrivals.length = 0
    for (const at of [1, 20, headEnd - 2, headEnd, headEnd + 5, text.length - 1]) {
      const { socket, received, answered } = openRaw(server.port)
      socket.write(text.slice(0, at))
      // Only a client that saw the first response sends the second part separately.
      await waitUntil(
        () => server.bytesRead() === at || undefined,
        () => `cut at ${at}: ${received()}`,
      )
      socket.write(text.slice(at))
      await waitUntil(
        () => received().includes('"body"') || undefined,
        () => `cut at ${at}: ${received()}`,
      )
      socket.destroy()
      expect(await answered).toContain(JSON.stringify(BODY).slice(1, -1))
    }
  })
})

test('a caller is known by its address', async () => {
  const addresses: (string | undefined)[] = []
  const noting = await startTestServer({
    beforeAnswer: ({ remoteAddress }) => Promise.resolve(void addresses.push(remoteAddress)),
  })
  await sendRaw(noting.port, request())
  await noting.close()
  expect(addresses).toEqual(['127.0.0.1'])
})

describe('a caller that waits to be asked for the body', () => {
  const waits = (length: number, line = 'POST /v1/data/app HTTP/1.1'): string =>
    request({ line, headers: [HOST, `Content-Length: ${length}`, 'Expect: 100-continue'], body: '' })
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

  it('is asked for one that is read, once', async () => {
    const { socket, received, answered } = openRaw(server.port)
    for (const turn of [1, 2]) {
      socket.write(waits(BODY.length))
      await waitUntil(
        () => received().split(CONTINUE).length === turn + 1 || undefined,
        () => `it is not asked for: ${received()}`,
      )
      expect(received().split('HTTP/1.1 200 OK').length).toBe(turn)
      socket.write(BODY)
      await waitUntil(
        () => received().split('HTTP/1.1 200 OK').length === turn + 1 || undefined,
        () => `no answer: ${received()}`,
      )
    }
    socket.end()
    expect((await answered).split('HTTP/1.1 ').length).toBe(5)
  })

  it.each([
    ['too large', waits(1_000_001), 413],
    ['for no host', waits(BODY.length).replace(`${HOST}\r\n`, ''), 400],
  ])('is refused by the head alone, and the connection ends: a body %s', async (_, head, status) => {
    const { socket, answered } = openRaw(server.port)
    socket.write(head)
    const answer = await answered
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/\r\nConnection: close\r\n/)
  })

  it('is asked when it is its turn, after the answer before', async () => {
    const { socket, received, answered } = openRaw(server.port)
    socket.write(request() + waits(BODY.length))
    await waitUntil(
      () => received().endsWith(CONTINUE) || undefined,
      () => `it is not asked for: ${received()}`,
    )
    expect(received()).toMatch(/^HTTP\/1.1 200 OK/)
    socket.end(BODY)
    expect((await answered).split('HTTP/1.1 200 OK').length).toBe(3)
  })
})
