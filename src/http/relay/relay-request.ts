import { Agent, request as startRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'

import { AppError } from '../../errors/app-error.js'
import { bodyIncomplete } from '../exchange/body-errors.js'
import type { ClientCertificate } from '../exchange/client-certificate.js'
import type { Exchange } from '../exchange/exchange.js'
import { StandardExchange } from '../transport/node/standard-exchange.js'
import { REQUEST_TIMEOUTS } from '../transport/node/standard-server.js'

/** Client address of a relayed request. */
export const ORIGIN_HEADER = 'tidegate-relayed-from'
/** Client certificate of a relayed request, as JSON in base64. */
export const CERTIFICATE_HEADER = 'tidegate-relayed-certificate'
/** Present if the relayed request came over TLS. */
export const TLS_HEADER = 'tidegate-relayed-tls'
const REQUEST_ID_HEADER = 'x-request-id'
/** Headers that only a relayed request has. */
export const RELAY_HEADERS: readonly string[] = [ORIGIN_HEADER, CERTIFICATE_HEADER, TLS_HEADER]

/** Hop-by-hop headers (RFC 9110, 7.6.1) and headers that the relay sets itself. */
const OWN_REQUEST_HEADERS: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'upgrade',
  'expect',
  'host',
  ...RELAY_HEADERS,
  REQUEST_ID_HEADER,
]
const OWN_ANSWER_HEADERS: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding']

/** Relays requests to another process of the service. */
export interface Relay {
  /**
   * Responds with the response of the other process. Raises `unavailable` if it cannot be reached.
   */
  readonly answer: (exchange: Exchange) => Promise<void>
  /** True if the other process responded, and so counted and logged the request. */
  readonly hasAnswered: (exchange: Exchange) => boolean
  readonly close: () => void
}

/**
 * Idle timeout of relay connections. It is well below that of the other process, since a request
 * sent while that process closes the connection gets no response.
 */
const IDLE_MS = REQUEST_TIMEOUTS.keepAliveMs / 2

/**
 * Creates a relay to the process that listens on a Unix socket. `idleMs` is the idle timeout of its
 * connections.
 */
export function makeRelay(socketPath: string, idleMs = IDLE_MS): Relay {
  const agent = new Agent({ keepAlive: true, timeout: idleMs })
  const answered = new WeakSet<Exchange>()
  return {
    answer: (exchange) =>
      new Promise((ended, failed) => {
        if (!(exchange instanceof StandardExchange))
          throw new AppError('internal', 'only whole requests are relayed')
        const relayed = startRequest({ agent, socketPath, ...requestOf(exchange) })
        relayed.once('response', (answer) => {
          // Refused at the drain deadline while the other process was working.
          if (!exchange.claimResponse()) {
            answer.destroy()
            return
          }
          answered.add(exchange)
          passBack(answer, exchange, ended)
        })
        relayed.once('close', ended)
        relayed.on('error', (cause) => {
          if (answered.has(exchange)) return
          const { request, response } = exchange
          if (!request.complete) failed(bodyIncomplete(cause))
          else if (!response.destroyed) failed(unreachable(cause))
          // The client is gone; the other process logs the request.
          else answered.add(exchange)
        })
        passOn(exchange, relayed)
      }),
    hasAnswered: (exchange) => answered.has(exchange),
    close: () => agent.destroy(),
  }
}

/** Encodes a certificate for the relay header. */
function certificateText(certificate: ClientCertificate): string {
  return Buffer.from(JSON.stringify(certificate)).toString('base64')
}

/** Decodes a certificate from the relay header; undefined if it is missing. */
export function readCertificate(text: string | undefined): ClientCertificate | undefined {
  // Only processes of the service can write to the socket.
  return text === undefined
    ? undefined
    : (JSON.parse(Buffer.from(text, 'base64').toString()) as ClientCertificate)
}

function requestOf(exchange: StandardExchange): { method: string; path: string; headers: string[] } {
  const { request, requestId, remoteAddress, clientCertificate, isTls, awaitsContinue } = exchange
  const own = [
    REQUEST_ID_HEADER,
    requestId,
    ...(remoteAddress === undefined ? [] : [ORIGIN_HEADER, remoteAddress]),
    ...(clientCertificate === undefined ? [] : [CERTIFICATE_HEADER, certificateText(clientCertificate)]),
    ...(isTls ? [TLS_HEADER, '1'] : []),
    ...(awaitsContinue ? ['Expect', '100-continue'] : []),
    // The host of an absolute target replaces the header. HTTP/1.0 requests may have none.
    ...(request.headers.host === undefined ? [] : ['Host', request.headers.host]),
  ]
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: [...without(request.rawHeaders, OWN_REQUEST_HEADERS), ...own],
  }
}

/**
 * Sends the body as it arrives, or after the other process responds with 100 Continue. Aborts the
 * relayed request if the client disconnects.
 */
function passOn(exchange: StandardExchange, relayed: ClientRequest): void {
  const { request, response, awaitsContinue } = exchange
  response.once('close', () => {
    if (!response.writableFinished) relayed.destroy()
  })
  request.on('error', () => relayed.destroy())
  if (awaitsContinue) {
    relayed.once('continue', () => {
      exchange.requestBody()
      request.pipe(relayed)
    })
    relayed.flushHeaders()
  } else request.pipe(relayed)
  response.once('finish', () => {
    if (request.readableEnded) return
    // Refused before the whole body arrived: a client that sends all of it before reading must be
    // able to.
    request.unpipe(relayed).resume()
    relayed.destroy()
  })
}

function passBack(answer: IncomingMessage, { response }: StandardExchange, ended: () => void): void {
  const headers = without(answer.rawHeaders, OWN_ANSWER_HEADERS)
  if (answer.headers.connection === 'close') headers.push('Connection', 'close')
  response.sendDate = false
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers)
  // If the relayed response breaks off, the client's response does, too.
  pipeline(answer, response, () => ended())
}

/** Filters a flat list of header names and values. */
function without(rawHeaders: readonly string[], names: readonly string[]): string[] {
  return rawHeaders.filter(
    (_, place) => !names.includes(rawHeaders[place - (place % 2)]?.toLowerCase() ?? ''),
  )
}

function unreachable(cause: Error): AppError {
  return new AppError('unavailable', 'the main process of the service does not respond; retry', { cause })
}
