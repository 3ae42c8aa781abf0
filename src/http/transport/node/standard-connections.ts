import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import type { AppError } from '../../../errors/app-error.js'
import { JSON_TYPE } from '../../exchange/exchange.js'

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
export interface RequestTurn {
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
export class StandardConnections {
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
export function refuseConnection(error: Error & { readonly code?: string }, socket: Duplex): void {
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
