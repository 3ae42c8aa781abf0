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

/** Timeouts of a server, in milliseconds. */
export interface RequestTimeouts {
  /** From the first byte of a connection to the end of its headers. */
  readonly headersMs: number
  /** For a whole request. */
  readonly requestMs: number
  /** For the next request on a connection. */
  readonly keepAliveMs: number
  /** For progress of a response. */
  readonly stalledMs: number
}

export interface StandardServerOptions {
  readonly requestIdFor: (claimed: string | undefined) => string
  readonly timeouts: RequestTimeouts
  readonly limits: TransportLimits
  /**
   * Returns the client address of relayed requests; only set for the relay. Host and target are
   * normalized already.
   */
  readonly remoteAddressOf?: (request: IncomingMessage) => string | undefined
  readonly certificateOf?: (request: IncomingMessage) => ClientCertificate | undefined
  readonly isTlsOf?: (request: IncomingMessage) => boolean
  /** Creates the server if it is not plain HTTP. */
  readonly create?: (options: ServerOptions, listener: RequestListener) => Server
  /** Event for new connections. */
  readonly connectionEvent?: 'connection' | 'secureConnection'
}

/** A server and its connections. */
export interface StandardServer {
  readonly server: Server
  readonly connections: StandardConnections
}

/** Creates node's HTTP server with a request handler. */
export function createStandardServer(handle: HandleRequest, options: StandardServerOptions): StandardServer {
  const { requestIdFor, timeouts, limits, remoteAddressOf, certificateOf, isTlsOf } = options
  const { create = createServer, connectionEvent = 'connection' } = options
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
      ...{ limits, remoteAddressOf, certificateOf, isTlsOf, awaitsContinue },
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
    request.once('end', () => limits.connections.requestReceived(request.socket))
    connections.take(request, response, turnOf(request, response, awaitsContinue))
  }
  const server = create(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      // The default of 30 seconds would let slow headers exceed their timeout.
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // Node's own error has no body.
      requireHostHeader: false,
    },
    (request, response) => take(request, response, false),
  )
  server.on(connectionEvent, (socket: Socket) => {
    limits.requests.accepted()
    connections.open(socket)
  })
  // Beyond its limit node drops headers but still frames the body by them, so a relay without them
  // would send the body as another request. The total size of headers is limited anyway.
  server.maxHeadersCount = 0
  server.timeout = timeouts.stalledMs
  server.on('timeout', (socket: Socket) => connections.endStalled(socket))
  // Otherwise node requests every body, even of requests that are refused by their headers.
  server.on('checkContinue', (request, response) => take(request, response, true))
  // Node's own error has no body. Other expectations are ignored (RFC 9110, 10.1.1: MAY).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('clientError', (error, socket) => connections.refuse(error, socket))
  return { server, connections }
}

/** Normalizes the request to origin form with one Host. Returns the error if that is impossible. */
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

/** Timeouts of all servers. */
export const REQUEST_TIMEOUTS: RequestTimeouts = {
  // Slow headers must not hold a connection.
  headersMs: 10_000,
  requestMs: 60_000,
  // Longer than the idle timeout of common load balancers, so that they close connections first.
  keepAliveMs: 75_000,
  // People may pause a download briefly.
  stalledMs: 60_000,
}

/** Target and host of a request. */
export interface Authority {
  /** Target in origin form: a path with an optional query. */
  readonly url: string
  /** Effective Host; undefined for an HTTP/1.0 request without one. */
  readonly host: string | undefined
}

const HOST = 'host'
const ABSOLUTE = /^https?:\/\/(?<host>[^/?#@\\]*)(?<rest>(?:[/?#].*)?)$/i

/**
 * Returns the authority of a request by RFC 9112, 3.2: one Host header, required in HTTP/1.1, or
 * the authority of an absolute target, which takes precedence. Raises `invalid` for several hosts,
 * a missing one, or an absolute target without one.
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

/**
 * Raises `invalid` for several Host headers. Reads the raw list, since node would build its header
 * objects for every request.
 */
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
