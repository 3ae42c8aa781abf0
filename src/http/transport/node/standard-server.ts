import { createServer, STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { toAppError, AppError } from '../../../errors/app-error.js'
import type { ClientCertificate } from '../../exchange/client-certificate.js'
import { JSON_TYPE } from '../../exchange/exchange.js'
import type { HandleRequest } from '../handle-request.js'
import type { TransportLimits } from '../transport-limits.js'
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

/** Waiting requests at which reading from a connection pauses. */
const PAUSE_READING_AT = 16
/** Waiting requests at which a connection is closed. */
const MAX_PIPELINED = 1000

/**
 * Maximum time without progress of a response while the server drains, in milliseconds. Data
 * already passed to the system counts as progress, so it may take three times as long.
 */
const STALLED_WHILE_DRAINING_MS = 700

/** Callbacks of a request. */
interface RequestTurn {
  readonly begin: () => void
  /**
   * Responds with an error, whether or not the request has begun. Does nothing if a response is
   * under way.
   */
  readonly refuse: (error: AppError) => void
}

interface Turn extends RequestTurn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * Connections with pending requests. The requests of one connection run one after another: the next
 * begins when the previous response was flushed, so a client that does not read gets no further
 * responses.
 */
class StandardConnections {
  readonly #turns = new Map<Duplex, Turn[]>()
  /** Open connections without a request. */
  readonly #unused = new Set<Socket>()
  /** Responses that would keep their connection open if the server were not draining. */
  readonly #closing = new WeakSet<ServerResponse>()
  #isDraining = false
  #refusal: AppError | undefined

  /** Registers a new connection. */
  open(socket: Socket): void {
    this.#unused.add(socket)
    socket.once('close', () => this.#unused.delete(socket))
  }

  /** Closes connections without any data, which node counts as active. */
  endUnused(): void {
    for (const socket of this.#unused) if (socket.bytesRead === 0) socket.destroySoon()
  }

  /** Calls `begin` at the request's turn, or `refuse` while draining. */
  take(request: IncomingMessage, response: ServerResponse, turn: RequestTurn): void {
    const { socket } = request
    this.#unused.delete(socket)
    const turns = this.#turnsOf(socket)
    turns.push({ request, response, ...turn })
    response.once('close', () => this.#next(socket, turns))
    if (this.#isDraining) this.#closeAfterLast(turns)
    if (turns.length === 1) this.#begin(turns)
    else if (turns.length > MAX_PIPELINED) socket.destroy()
    else if (turns.length >= PAUSE_READING_AT) socket.pause()
  }

  /**
   * From now on, the last response of each connection closes it, and stalled readers are
   * disconnected soon.
   */
  drain(): void {
    this.#isDraining = true
    for (const [socket, turns] of this.#turns) {
      this.#closeAfterLast(turns)
      if (turns.length > 0 && socket instanceof Socket) socket.setTimeout(STALLED_WHILE_DRAINING_MS)
    }
  }

  /** Responds with an error to all pending and future requests. */
  refuseAll(error: AppError): void {
    this.#refusal = error
    for (const turns of this.#turns.values()) turns[0]?.refuse(error)
  }

  /** Closes a stalled connection, unless it waits for a response. */
  endStalled(socket: Socket): void {
    const isAnswering = (this.#turns.get(socket)?.length ?? 0) > 0
    if (!isAnswering || socket.writableLength > 0) socket.destroy()
  }

  /** Responds to an unreadable request after the previous responses, and closes the connection. */
  refuse(error: Error, socket: Duplex): void {
    const last = this.#turns.get(socket)?.at(-1)
    if (last?.request.complete === true && socket.writable) {
      last.response.once('close', () => refuseConnection(error, socket))
    } else refuseConnection(error, socket)
  }

  #turnsOf(socket: Socket): Turn[] {
    const known = this.#turns.get(socket)
    if (known !== undefined) return known
    const turns: Turn[] = []
    this.#turns.set(socket, turns)
    socket.once('close', () => this.#turns.delete(socket))
    return turns
  }

  #next(socket: Socket, turns: Turn[]): void {
    turns.shift()
    if (socket.destroyed) return
    if (turns.length === PAUSE_READING_AT - 1) socket.resume()
    this.#begin(turns)
  }

  #begin([next]: readonly Turn[]): void {
    if (this.#refusal === undefined) next?.begin()
    else next?.refuse(this.#refusal)
  }

  #closeAfterLast(turns: readonly Turn[]): void {
    turns.forEach(({ response }, index) => {
      if (response.headersSent) return
      const isLast = index === turns.length - 1
      if (isLast && response.shouldKeepAlive) {
        response.shouldKeepAlive = false
        this.#closing.add(response)
      } else if (!isLast && this.#closing.delete(response)) response.shouldKeepAlive = true
    })
  }
}

interface Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
}

const NOT_HTTP: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'not an HTTP request',
}
/** By error code of node or of this service. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    message: 'the request headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    message: 'the request did not arrive in time',
  },
}

/** Responds to an unreadable request in the error format, and closes the connection. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, code, message } = REFUSALS[error.code ?? ''] ?? NOT_HTTP
  const body = `${JSON.stringify({ code, message }, null, 2)}\n`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
