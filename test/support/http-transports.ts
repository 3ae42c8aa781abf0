import type { Server } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import { toAppError } from '../../src/errors/app-error.js'
import { ConnectionLimit } from '../../src/http/transport/connection-limit.js'
import type { Exchange } from '../../src/http/exchange/exchange.js'
import { PartialBodies } from '../../src/http/transport/partial-bodies.js'
import { REQUEST_TIMEOUTS, createStandardServer } from '../../src/http/transport/node/standard-server.js'
import { UnreadAnswers } from '../../src/http/transport/unread-answers.js'
import { PageQueue } from '../../src/http/transport/page-queue.js'
import { RequestQueue } from '../../src/http/transport/request-queue.js'
import { readBody } from '../../src/http/input/read-body.js'
import { waitUntil } from './wait-until.js'

/** A server over sockets of loopback whose handle answers with what it understood of the request. */
export interface TestServer {
  readonly port: number
  readonly server: Server
  /** The requests that reached the handler. */
  readonly arrivals: Exchange[]
  /** Bytes that it has taken from its newest connection. */
  readonly bytesRead: () => number
  /** Connections that it has taken so far. */
  readonly connections: () => number
  /** Bytes held of bodies that have come in part. */
  readonly halfBytes: () => number
  /** Bytes held of large answers that have not been read. */
  readonly unreadBytes: () => number
  readonly close: () => Promise<void>
}

export interface TestServerOptions {
  readonly maxBodyBytes?: number
  /** Runs before each answer. */
  readonly beforeAnswer?: (exchange: Exchange) => Promise<void>
  readonly answerBody?: string | Buffer
  readonly maxConnections?: number
  /** Of all bodies that have come in part. */
  readonly maxHalfBytes?: number
  /** Of all large answers that nobody has read. */
  readonly maxUnreadBytes?: number
  /** How long a caller may take none of an answer. */
  readonly stalledMs?: number
  /** How long a whole request may take. */
  readonly requestMs?: number
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const arrivals: Exchange[] = []
  const handle = (exchange: Exchange): void => {
    arrivals.push(exchange)
    void answer(exchange, options)
  }
  const requestIdFor = (claimed?: string): string => claimed ?? 'own'
  const partialBodies = new PartialBodies(0, options.maxHalfBytes)
  const connections = new ConnectionLimit(options.maxConnections ?? 1000)
  const unreadAnswers = new UnreadAnswers(options.maxUnreadBytes)
  const room = {
    partialBodies,
    unreadAnswers,
    connections,
    requests: new RequestQueue(),
    pages: new PageQueue(),
  }
  const { stalledMs = REQUEST_TIMEOUTS.stalledMs, requestMs = REQUEST_TIMEOUTS.requestMs } = options
  const headersMs = Math.min(requestMs, REQUEST_TIMEOUTS.headersMs)
  const timeouts = { ...REQUEST_TIMEOUTS, headersMs, stalledMs, requestMs }
  const { server } = createStandardServer(handle, { requestIdFor, timeouts, limits: room })
  connections.watch(server)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    server,
    arrivals,
    bytesRead: () => sockets.at(-1)?.bytesRead ?? 0,
    connections: () => sockets.length,
    halfBytes: () => partialBodies.total,
    unreadBytes: () => unreadAnswers.total,
    close: () => close(server),
  }
}

async function answer(exchange: Exchange, options: TestServerOptions): Promise<void> {
  try {
    const body = await readBody(exchange, options.maxBodyBytes ?? 1_000_000)
    await options.beforeAnswer?.(exchange)
    const understood = {
      method: exchange.method,
      target: exchange.target,
      headers: ['content-type', 'x-spinnaker-user', 'authorization'].map((name) => exchange.header(name)),
      body: Buffer.from(body).toString('latin1'),
    }
    exchange.send(200, options.answerBody ?? JSON.stringify(understood), undefined, [
      'Vary',
      'Accept-Encoding',
    ])
  } catch (raw) {
    exchange.fail(toAppError(raw))
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** All that a server answers to these requests, each sent when the one before is answered, and to the end of the connection. */
export async function sendRaw(port: number, ...requests: readonly (string | Buffer)[]): Promise<string> {
  const { socket, received, answered } = openRaw(port)
  const last = requests.at(-1) ?? ''
  for (const request of requests.slice(0, -1)) {
    const before = received().length
    socket.write(request)
    await waitUntil(
      () => received().length > before || undefined,
      () => `no answer: ${received()}`,
    )
  }
  socket.end(last)
  return await answered
}

/** A connection of which a test decides what it sends and when. */
export function openRaw(port: number): {
  readonly socket: Socket
  readonly received: () => string
  readonly answered: Promise<string>
} {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  const chunks: Buffer[] = []
  const received = (): string => Buffer.concat(chunks).toString('latin1')
  const answered = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(received()))
  })
  return { socket, received, answered }
}

/** What an answer says, without the time of day. */
export function withoutDate(answer: string): string {
  return answer.replace(/^Date: .*\r\n/gm, '')
}
