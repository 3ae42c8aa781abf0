import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

import { toAppError, AppError } from '../../../errors/app-error.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import type { HandleRequest } from '../handle-request.js'
import type { TransportLimits } from '../transport-limits.js'
import { StandardConnections } from './standard-connections.js'
import type { RequestTurn } from './standard-connections.js'
import { StandardExchange } from './standard-exchange.js'

const TIMEOUT_CHECK_MS = 1000

/** How long a server waits for its callers, in milliseconds. */
export interface RequestTimeouts {
  /** For the first byte of a connection to the end of its headers. */
  readonly headersMs: number
  /** For all of a request. */
  readonly requestMs: number
  /** For the next request of a connection. */
  readonly keepAliveMs: number
  /** For a reader to take more of an answer. */
  readonly stalledMs: number
}

export interface StandardServerOptions {
  readonly requestIdFor: (claimed: string | undefined) => string
  readonly timeouts: RequestTimeouts
  readonly limits: TransportLimits
  /** Given where another process reads the requests and passes them on: where one came from. Host and target are as they ought to be then. */
  readonly remoteAddressOf?: (request: IncomingMessage) => string | undefined
  readonly certificateOf?: (request: IncomingMessage) => ClientCertificate | undefined
  readonly isTlsOf?: (request: IncomingMessage) => boolean
  /** Makes node's server where it is not to be the one that speaks plain HTTP. */
  readonly create?: (options: ServerOptions, listener: RequestListener) => Server
  /** The event by which its connections come. */
  readonly connectionEvent?: 'connection' | 'secureConnection'
}

/** A server and what it knows of its connections. */
export interface StandardServer {
  readonly server: Server
  readonly connections: StandardConnections
}

/** Node's own HTTP server with the request handler behind it: it reads every form of request. */
export function createStandardServer(handle: HandleRequest, options: StandardServerOptions): StandardServer {
  const { requestIdFor, timeouts, limits: room, remoteAddressOf, certificateOf, isTlsOf } = options
  const { create = createServer, connectionEvent: comesAs = 'connection' } = options
  const connections = new StandardConnections()
  const turnOf = (
    request: IncomingMessage,
    response: ServerResponse,
    awaitsContinue: boolean,
  ): RequestTurn => {
    const claimed = request.headers['x-request-id']
    const requestId = requestIdFor(Array.isArray(claimed) ? claimed[0] : claimed)
    const refusal = remoteAddressOf === undefined ? applyAuthority(request) : undefined
    const exchange = new StandardExchange(request, response, requestId, {
      ...{ limits: room, remoteAddressOf, certificateOf, isTlsOf, awaitsContinue },
    })
    return {
      begin: () => {
        if (refusal === undefined) handle(exchange)
        else exchange.fail(refusal)
      },
      refuse: (error) => exchange.fail(error),
    }
  }
  const take = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean): void => {
    request.once('end', () => room.connections.requestReceived(request.socket))
    connections.take(request, response, turnOf(request, response, awaitsContinue))
  }
  const server = create(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      // Else it looks every half a minute, and heads stand longer than they may.
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Its own refusal has no body; ours is in the one shape of errors.
      requireHostHeader: false,
    },
    (request, response) => take(request, response, false),
  )
  server.on(comesAs, (socket: Socket) => {
    room.requests.accepted()
    connections.open(socket)
  })
  // Node's own bound leaves headers out behind the first thousand, but frames the body by them all the same: who passes a request on
  // without them sends its body as another request. All together are bounded by their bytes.
  server.maxHeadersCount = 0
  server.timeout = timeouts.stalledMs
  server.on('timeout', (socket: Socket) => connections.endStalled(socket))
  // Else it asks for every body, also for one that is refused by its head.
  server.on('checkContinue', (request, response) => take(request, response, true))
  // Its own refusal has no body. Whoever expects something else than "100-continue" is answered as everybody is (RFC 9110, 10.1.1: MAY).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (error, socket) => connections.refuse(error, socket))
  return { server, connections }
}

/** Has everything behind read the request as one in origin form with one Host; returns the error where it cannot be read so. */
function applyAuthority(request: IncomingMessage): AppError | undefined {
  try {
    const { url, host } = readAuthority(request)
    request.url = url
    if (host !== undefined) request.headers.host = host
    return undefined
  } catch (raw) {
    return toAppError(raw)
  }
}

/** How long every server of the service waits for its callers. */
export const REQUEST_TIMEOUTS: RequestTimeouts = {
  // A caller that is slow to send its headers must not hold a connection for ever.
  headersMs: 10_000,
  requestMs: 60_000,
  // Longer than the idle time of the usual load balancers, so that they and not we close a connection.
  keepAliveMs: 75_000,
  // A person may well stop a download for a moment.
  stalledMs: 60_000,
}

/** Where a request goes, by its target and its Host header together. */
export interface Authority {
  /** The target in origin form: a path and perhaps a query. */
  readonly url: string
  /** What counts as the Host header; undefined where an HTTP/1.0 request has none. */
  readonly host: string | undefined
}

const HOST = 'host'
const ABSOLUTE = /^https?:\/\/(?<host>[^/?#@\\]*)(?<rest>(?:[/?#].*)?)$/i

/**
 * The authority of a request as RFC 9112, 3.2 reads it: one Host header, which HTTP/1.1 must have; the authority of an absolute target counts
 * instead of it. Raises `invalid` where there are more, none, or an absolute target names no host.
 */
export function readAuthority(
  request: Pick<IncomingMessage, 'url' | 'httpVersion' | 'rawHeaders'>,
): Authority {
  const host = hostIn(request.rawHeaders)
  if (host === undefined && request.httpVersion === '1.1') throw invalid('the request has no Host header')
  const url = request.url ?? '/'
  if (url.startsWith('/') || !/^https?:/i.test(url)) return { url, host }
  const { host: named = '', rest = '' } = ABSOLUTE.exec(url)?.groups ?? {}
  if (named === '') throw invalid('the target of the request is a URL that names no host')
  return { url: rest.startsWith('/') ? rest : `/${rest}`, host: named }
}

/** Raises `invalid` where there is more than one. Node's own lists of headers are made of all of them, for each request. */
function hostIn(rawHeaders: readonly string[]): string | undefined {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length !== HOST.length || name.toLowerCase() !== HOST) continue
    if (host !== undefined) throw invalid('the request has more than one Host header')
    host = rawHeaders[at + 1] ?? ''
  }
  return host
}

function invalid(message: string): AppError {
  return new AppError('invalid', message, { code: 'invalid_request' })
}
