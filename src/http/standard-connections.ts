import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { refuseConnection } from './refuse-connection.js'

/** From here on no more is read of a connection until one of its requests is answered. */
const MANY_WAITING = 16
/** Whoever sends so many requests without reading an answer is sent away. */
const MAX_WAITING = 1000

interface Turn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly begin: () => void
}

/**
 * The connections of the standard server that have a request under way. The requests of one connection take turns: the next one begins
 * when the answer before it has been handed to the system, so that who reads no answers makes no more of them.
 */
export class StandardConnections {
  readonly #turns = new Map<Duplex, Turn[]>()
  /** Answers that would have left their connection open, were the server not draining. */
  readonly #closing = new WeakSet<ServerResponse>()
  #isDraining = false

  /** Calls `begin` once it is the turn of this request. */
  take(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const { socket } = request
    const turns = this.#turnsOf(socket)
    turns.push({ request, response, begin })
    response.once('close', () => this.#next(socket, turns))
    if (this.#isDraining) this.#closeAfterLast(turns)
    if (turns.length === 1) begin()
    else if (turns.length > MAX_WAITING) socket.destroy()
    else if (turns.length >= MANY_WAITING) socket.pause()
  }

  /** From now on the last answer of each connection says that it is the last, and ends it. */
  drain(): void {
    this.#isDraining = true
    for (const turns of this.#turns.values()) this.#closeAfterLast(turns)
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
    if (turns.length === MANY_WAITING - 1) socket.resume()
    turns[0]?.begin()
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
