import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import type { AppError } from '../../../errors/app-error.js'
import { JSON_TYPE } from '../../exchange/exchange.js'

/** From here on no more is read of a connection until one of its requests is answered. */
const PAUSE_READING_AT = 16
/** Whoever sends so many requests without reading an answer is sent away. */
const MAX_PIPELINED = 1000

/**
 * How long a reader may take nothing of its answer while the server drains, in milliseconds. What was handed to the system just before
 * counts as taken, so that it may be three times as long.
 */
const STALLED_WHILE_DRAINING_MS = 700

/** What becomes of a request when it is its turn. */
export interface RequestTurn {
  readonly begin: () => void
  /** Answers with an error, whether or not it has begun; nothing where an answer is on its way. */
  readonly refuse: (error: AppError) => void
}

interface Turn extends RequestTurn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/**
 * The connections of the standard server that have a request under way. The requests of one connection take turns: the next one begins
 * when the answer before it has been handed to the system, so that who reads no answers makes no more of them.
 */
export class StandardConnections {
  readonly #turns = new Map<Duplex, Turn[]>()
  /** All that are open and have not asked anything yet. */
  readonly #unused = new Set<Socket>()
  /** Answers that would have left their connection open, were the server not draining. */
  readonly #closing = new WeakSet<ServerResponse>()
  #isDraining = false
  #refusal: AppError | undefined

  /** Takes note of a connection that begins. */
  open(socket: Socket): void {
    this.#unused.add(socket)
    socket.once('close', () => this.#unused.delete(socket))
  }

  /** Ends the connections on which nothing has come yet: node's server counts them among those that send a request. */
  endUnused(): void {
    for (const socket of this.#unused) if (socket.bytesRead === 0) socket.destroySoon()
  }

  /** Calls `begin` once it is the turn of this request, or `refuse` where it is too late for any. */
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

  /** From now on the last answer of each connection says that it is the last, and ends it; who stops reading is soon sent away. */
  drain(): void {
    this.#isDraining = true
    for (const [socket, turns] of this.#turns) {
      this.#closeAfterLast(turns)
      if (turns.length > 0 && socket instanceof Socket) socket.setTimeout(STALLED_WHILE_DRAINING_MS)
    }
  }

  /** Answers whatever has no answer yet, and all that comes from now on, with an error. */
  refuseAll(error: AppError): void {
    this.#refusal = error
    for (const turns of this.#turns.values()) turns[0]?.refuse(error)
  }

  /** Ends a connection on which nothing has moved for long, unless it waits for an answer of ours. */
  endStalled(socket: Socket): void {
    const isAnswering = (this.#turns.get(socket)?.length ?? 0) > 0
    if (!isAnswering || socket.writableLength > 0) socket.destroy()
  }

  /** Answers what could not be read as a request, after those before it that could, and ends the connection. */
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
  message: 'what was sent is not an HTTP request',
}
/** By the code of node's error, or our own. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    message: 'the headers of the request are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'request_timeout',
    message: 'the request did not arrive in time',
  },
}

/** Answers what node could not read as a request, in the one shape of errors, and ends the connection. */
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
