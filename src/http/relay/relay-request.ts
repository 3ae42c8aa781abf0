import { Agent, request as startRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'

import { AppError } from '../../errors/app-error.js'
import { bodyIncomplete } from '../exchange/body-errors.js'
import type { ClientCertificate } from '../exchange/client-certificate.js'
import type { Exchange } from '../exchange/exchange.js'
import { StandardExchange } from '../transport/node/standard-exchange.js'
import { REQUEST_TIMEOUTS } from '../transport/node/standard-server.js'

/** Where a request came from that another process of the service took in. */
export const ORIGIN_HEADER = 'tidegate-relayed-from'
/** The certificate of its caller, as JSON in base64. */
export const CERTIFICATE_HEADER = 'tidegate-relayed-certificate'
/** There where it came over TLS. */
export const TLS_HEADER = 'tidegate-relayed-tls'
const REQUEST_ID_HEADER = 'x-request-id'

/** What is of one connection, and not of the request (RFC 9110, 7.6.1), and what the relaying process says itself. */
const OWN_REQUEST_HEADERS: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'upgrade',
  'expect',
  'host',
  ORIGIN_HEADER,
  CERTIFICATE_HEADER,
  TLS_HEADER,
  REQUEST_ID_HEADER,
]
const OWN_ANSWER_HEADERS: readonly string[] = ['connection', 'keep-alive', 'transfer-encoding']

/** Has requests answered by another process of the service. */
export interface Relay {
  /** Answers an exchange with what the other process answers; raises `unavailable` where that one cannot be reached. */
  readonly answer: (exchange: Exchange) => Promise<void>
  /** Whether the other process has answered, and so has counted and logged it. */
  readonly hasAnswered: (exchange: Exchange) => boolean
  readonly close: () => void
}

/** Well before the other process ends them: a request that is sent as it does has no answer. */
const IDLE_MS = REQUEST_TIMEOUTS.keepAliveMs / 2

/** A relay to the process that listens at a socket of the file system, over connections that end when they idle for so long. */
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
          // Refused at the drain deadline while the other process worked on it.
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
          // Who asked has gone; the other process logs what it was asked.
          else answered.add(exchange)
        })
        passOn(exchange, relayed)
      }),
    hasAnswered: (exchange) => answered.has(exchange),
    close: () => agent.destroy(),
  }
}

/** A certificate on its way to another process of the service. */
function certificateText(certificate: ClientCertificate): string {
  return Buffer.from(JSON.stringify(certificate)).toString('base64')
}

/** What `certificateText` wrote; undefined where nothing came. */
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
    // That of an absolute target counts instead of the header's; one of HTTP/1.0 may have none.
    ...(request.headers.host === undefined ? [] : ['Host', request.headers.host]),
  ]
  return {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: [...without(request.rawHeaders, OWN_REQUEST_HEADERS), ...own],
  }
}

/** The body as it comes, or once the other process asks for it; a caller who goes away takes the relayed request along. */
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
    // Refused before all of its body came: whoever sends it to its end before reading must be able to.
    request.unpipe(relayed).resume()
    relayed.destroy()
  })
}

function passBack(answer: IncomingMessage, { response }: StandardExchange, ended: () => void): void {
  const headers = without(answer.rawHeaders, OWN_ANSWER_HEADERS)
  if (answer.headers.connection === 'close') headers.push('Connection', 'close')
  response.sendDate = false
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers)
  // Of an answer that breaks off, the caller's does too.
  pipeline(answer, response, () => ended())
}

/** Headers in one list, names and values in turn, without those of the names. */
function without(rawHeaders: readonly string[], names: readonly string[]): string[] {
  return rawHeaders.filter(
    (_, place) => !names.includes(rawHeaders[place - (place % 2)]?.toLowerCase() ?? ''),
  )
}

function unreachable(cause: Error): AppError {
  return new AppError('unavailable', 'the main process of the service cannot be asked: try again', { cause })
}
