import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import type { ResolveHost } from '../../../src/lib/outbound/checked-lookup.js'
import { makeOutboundClient } from '../../../src/lib/outbound/outbound-client.js'
import type {
  OutboundClient,
  OutboundClientOptions,
  OutboundRequest,
} from '../../../src/lib/outbound/outbound-client.js'
import { OutboundError } from '../../../src/lib/outbound/outbound-error.js'
import { startLoopbackServer } from '../../support/loopback-server.js'
import type { LoopbackServer, Respond } from '../../support/loopback-server.js'
import { waitUntil } from '../../support/wait-until.js'

const OPEN = { allowLoopback: true, allowPrivate: true }
const STRICT = { allowLoopback: false, allowPrivate: false }

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function serve(respond: Respond, tls?: { key: string; cert: string }): Promise<LoopbackServer> {
  const server = await startLoopbackServer(respond, tls)
  closing.push(server.close)
  return server
}

function makeClient(policy = OPEN, options?: OutboundClientOptions): OutboundClient {
  const client = makeOutboundClient(policy, options)
  closing.push(client.close)
  return client
}

function get(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', url, timeoutMs: 10_000, maxResponseBytes: 100_000, ...more }
}

async function failureOf(sending: Promise<unknown>): Promise<OutboundError> {
  const error = await sending.then(
    () => undefined,
    (raised: unknown) => raised,
  )
  if (!(error instanceof OutboundError)) throw new Error(`not an OutboundError: ${String(error)}`)
  return error
}

const resolvesTo = (...addresses: string[]): ResolveHost => {
  return () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
}

describe('a request', () => {
  test('brings method, path, query, headers and body to the server, and its answer back', async () => {
    const server = await serve((_, response) => {
      response.writeHead(201, { 'X-Tide': ['high', 'low'] }).end('made')
    })
    const response = await makeClient().send(
      get(`${server.origin}/a%2Fb?q=%C3%A4#part`, { method: 'PUT', headers: { 'x-one': '1' }, body: 'té' }),
    )
    expect(server.seen[0]).toMatchObject({ method: 'PUT', url: '/a%2Fb?q=%C3%A4', body: 'té' })
    expect(server.seen[0]?.headers).toMatchObject({ 'x-one': '1', 'accept-encoding': 'identity' })
    expect(response).toMatchObject({ status: 201, headers: { 'x-tide': 'high, low' } })
    expect(response.body.toString()).toBe('made')
  })

  test('does not follow a redirect', async () => {
    const server = await serve((_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    const response = await makeClient().send(get(server.origin))
    expect(response).toMatchObject({ status: 302, headers: { location: '/elsewhere' } })
    expect(server.seen).toHaveLength(1)
  })

  test('times out when the body never ends', async () => {
    const server = await serve((_, response) => {
      response.write('a little')
    })
    const error = await failureOf(makeClient().send(get(server.origin, { timeoutMs: 50 })))
    expect(error).toMatchObject({ kind: 'unavailable', reason: 'timed_out' })
    expect(error.message).toBe(`${server.origin} did not answer in full within 50 ms`)
  })

  test('times out when nothing is answered', async () => {
    const server = await serve(() => undefined)
    const error = await failureOf(makeClient().send(get(server.origin, { timeoutMs: 50 })))
    expect(error.reason).toBe('timed_out')
  })

  test('waits for a connection no longer than its client may', async () => {
    const silent = await serveRaw(() => undefined)
    const hasty = makeClient(OPEN, { connectTimeoutMs: 20 })
    const error = await failureOf(hasty.send(get(originOf(silent).replace('http:', 'https:'))))
    expect(error.reason).toBe('timed_out')
    expect(error.message).not.toContain('within 10000 ms')
  })

  test('times out when the name is never resolved', async () => {
    const client = makeClient(OPEN, { resolve: () => new Promise(() => undefined) })
    const error = await failureOf(client.send(get('http://slow.test/', { timeoutMs: 50 })))
    expect(error.reason).toBe('timed_out')
  })

  test('ends at a body that is larger than the limit, announced or not', async () => {
    const server = await serve(({ url }, response) => {
      if (url === '/announced') response.writeHead(200, { 'content-length': 1_000_000 })
      for (let chunk = 0; chunk < 10; chunk++) response.write('x'.repeat(100_000))
      response.end()
    })
    const client = makeClient()
    for (const path of ['/announced', '/chunked']) {
      const error = await failureOf(client.send(get(`${server.origin}${path}`, { maxResponseBytes: 99_999 })))
      expect(error).toMatchObject({ kind: 'unavailable', reason: 'too_large' })
    }
  })

  test('takes a body of exactly the limit', async () => {
    const server = await serve((_, response) => {
      response.end('x'.repeat(1000))
    })
    const { body } = await makeClient().send(get(server.origin, { maxResponseBytes: 1000 }))
    expect(body).toHaveLength(1000)
  })

  test('reports that nothing listens', async () => {
    const server = await startLoopbackServer(() => undefined)
    await server.close()
    const error = await failureOf(makeClient().send(get(`${server.origin}/secret-path?token=t`)))
    expect(error).toMatchObject({ kind: 'unavailable', reason: 'not_connected' })
    expect(error.message).toContain('ECONNREFUSED')
    expect(error.message).not.toContain('secret-path')
  })

  test('reports a response that is not HTTP', async () => {
    const server = await serveRaw((socket) => socket.end('SSH-2.0-tide\r\n'))
    const error = await failureOf(makeClient().send(get(originOf(server))))
    expect(error.reason).toBe('not_connected')
  })

  test('reports a connection that breaks within the body', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy())
    })
    const error = await failureOf(makeClient().send(get(server.origin)))
    expect(error.reason).toBe('not_connected')
  })

  test('that could never be sent is refused without showing the value that is wrong', async () => {
    const server = await serve((_, response) => response.end())
    const error = await failureOf(
      makeClient().send(get(server.origin, { headers: { 'x-key': 'a\r\nb: secret' } })),
    )
    expect(error).toMatchObject({ kind: 'invalid', reason: 'target_refused' })
    expect(error.message).toContain('x-key')
    expect(error.message).not.toContain('secret')
  })

  test('ends when its caller gives up, before or during it', async () => {
    const server = await serve(() => undefined)
    const client = makeClient()
    const given = new AbortController()
    const sending = failureOf(client.send(get(server.origin, { signal: given.signal })))
    await waitUntil(
      () => server.seen[0],
      () => 'no request came',
    )
    given.abort()
    expect((await sending).reason).toBe('aborted')
    const later = await failureOf(client.send(get(server.origin, { signal: given.signal })))
    expect(later.reason).toBe('aborted')
    expect(server.seen).toHaveLength(1)
  })

  test('is given up after the client was closed', async () => {
    const client = makeOutboundClient(OPEN)
    await client.close()
    expect((await failureOf(client.send(get('http://127.0.0.1:1/')))).reason).toBe('aborted')
  })
})

describe('a body that is taken piece by piece', () => {
  const take = async (respond: Respond, request: Partial<OutboundRequest> = {}) => {
    const server = await serve(respond)
    const pieces: Buffer[] = []
    const takeBody = (piece: Buffer): void => void pieces.push(piece)
    const sending = makeClient().send({ ...get(server.origin), takeBody, ...request })
    return { sending, taken: () => Buffer.concat(pieces).toString() }
  }

  test('is not collected besides', async () => {
    const { sending, taken } = await take((_, response) => {
      response.write('one ')
      response.end('two')
    })
    expect((await sending).body.length).toBe(0)
    expect(taken()).toBe('one two')
  })

  test('streams the body of a success only, and collects that of a refusal', async () => {
    const { sending, taken } = await take((_, response) => response.writeHead(400).end('why'))
    expect((await sending).body.toString()).toBe('why')
    expect(taken()).toBe('')
  })

  test('has the same limit', async () => {
    const { sending } = await take((_, response) => response.end('x'.repeat(101)), { maxResponseBytes: 100 })
    expect(await failureOf(sending)).toMatchObject({ reason: 'too_large' })
  })

  test('ends the request with the error that taking it raised', async () => {
    const wrong = new AppError('invalid', 'no list')
    const takeBody = (): Promise<void> => Promise.reject(wrong)
    const { sending } = await take((_, response) => response.end('x'), { takeBody })
    await expect(sending).rejects.toBe(wrong)
  })
})

describe('a host name', () => {
  test('connects to the checked address and sends the host name', async () => {
    const server = await serve((_, response) => response.end('here'))
    const client = makeClient(OPEN, { resolve: resolvesTo('127.0.0.1') })
    const { body } = await client.send(get(`http://tide.test:${server.port}/`))
    expect(body.toString()).toBe('here')
    expect(server.seen[0]?.headers['host']).toBe(`tide.test:${server.port}`)
  })

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '10.0.0.1', '169.254.169.254', 'fd00:ec2::254'])(
    'that resolves to %s is refused',
    async (address) => {
      const client = makeClient(STRICT, { resolve: resolvesTo(address) })
      const error = await failureOf(client.send(get('http://tide.test/')))
      expect(error).toMatchObject({ kind: 'invalid', reason: 'target_refused' })
      expect(error.message).toContain(`${address} is`)
    },
  )

  test('that resolves to allowed and refused addresses is connected to at an allowed one only', async () => {
    const server = await serve((_, response) => response.end('here'))
    const mixed = resolvesTo('169.254.169.254', '10.0.0.1', '127.0.0.1', 'fe80::1')
    const client = makeClient({ allowLoopback: true, allowPrivate: false }, { resolve: mixed })
    const { body } = await client.send(get(`http://tide.test:${server.port}/`))
    expect(body.toString()).toBe('here')
  })

  test('that answers differently the second time gains nothing', async () => {
    const server = await serve((_, response) => response.writeHead(200, { connection: 'close' }).end())
    const answers = ['127.0.0.1', '169.254.169.254']
    let asked = 0
    const rebinding: ResolveHost = () => resolvesTo(answers[asked++] ?? '')('')
    const client = makeClient(OPEN, { resolve: rebinding })
    const url = `http://rebind.test:${server.port}/`
    expect(await client.send(get(url))).toMatchObject({ status: 200 })
    expect(asked).toBe(1)
    const error = await failureOf(client.send(get(url)))
    expect(error.reason).toBe('target_refused')
    expect(asked).toBe(2)
  })

  test('without an address cannot be reached', async () => {
    const error = await failureOf(makeClient(OPEN, { resolve: resolvesTo() }).send(get('http://none.test/')))
    expect(error.reason).toBe('not_connected')
  })

  test('that cannot be resolved cannot be reached', async () => {
    const resolve: ResolveHost = () => Promise.reject(new Error('getaddrinfo ENOTFOUND none.test'))
    const error = await failureOf(makeClient(OPEN, { resolve }).send(get('http://none.test/')))
    expect(error).toMatchObject({ reason: 'not_connected' })
    expect(error.message).toContain('ENOTFOUND')
  })

  test('verifies the certificate of the server', async () => {
    const tls = makeCertificate('tide.test')
    const server = await serve((_, response) => response.end('safe'), tls)
    const client = makeClient(OPEN, { resolve: resolvesTo('127.0.0.1'), ca: tls.cert })
    const { body } = await client.send(get(`https://tide.test:${server.port}/`))
    expect(body.toString()).toBe('safe')
    const error = await failureOf(client.send(get(`https://other.test:${server.port}/`)))
    expect(error.reason).toBe('not_connected')
    expect(error.message).toBe(
      `https://other.test:${server.port} could not be reached: its certificate is for another name (it has tide.test): use a name of the certificate in the URL`,
    )
  })

  test('must have a certificate that is trusted', async () => {
    const client = makeClient(OPEN, { resolve: resolvesTo('127.0.0.1') })
    const selfSigned = await serve((_, response) => response.end(), makeCertificate('tide.test'))
    const untrusted = await failureOf(client.send(get(`https://tide.test:${selfSigned.port}/`)))
    expect(untrusted.message).toContain(
      'is self-signed and not trusted: start Tidegate with NODE_EXTRA_CA_CERTS',
    )
  })

  test('names the protocol when the scheme is wrong', async () => {
    const plain = await serve((_, response) => response.end())
    const noTls = await failureOf(makeClient().send(get(`https://127.0.0.1:${plain.port}/`)))
    expect(noTls.message).toContain('the port does not use TLS: write http://')
    const raw = await serveRaw((socket) => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])))
    const noHttp = await failureOf(makeClient().send(get(`${originOf(raw)}/`)))
    expect(noHttp.message).toContain('if the port uses TLS, write https://')
    const tls = await serve((_, response) => response.end(), makeCertificate('tide.test'))
    const hungUp = await failureOf(makeClient().send(get(`http://127.0.0.1:${tls.port}/`)))
    expect(hungUp.message).toContain('if the port uses TLS, write https://')
  })
})

async function serveRaw(answer: (socket: Socket) => void): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.resume()
    answer(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => new Promise((resolve) => server.close(() => resolve())))
  return server
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function makeCertificate(host: string): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-tls-'))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
  const kind = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ]
  execFileSync('openssl', [...kind, '-keyout', key, '-out', cert, ...names], { stdio: 'ignore' })
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(directory, { recursive: true })
  return made
}
