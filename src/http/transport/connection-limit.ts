import type { Server, Socket } from 'node:net'

/**
 * Keeps a server to this many connections. One more ends the oldest of those that have never sent a whole request, be it itself: callers
 * that keep their connections are not sent away for others that send nothing.
 */
export class ConnectionLimit {
  readonly #withoutRequest = new Set<Socket>()
  readonly #max: number
  #open = 0

  constructor(max: number) {
    this.#max = max
  }

  /** To be called once the listeners of the server that read connections are in place. */
  watch(server: Server): void {
    server.prependListener('connection', (socket: Socket) => this.#take(socket))
  }

  /** A connection has sent a whole request. */
  requestReceived(socket: Socket): void {
    this.#withoutRequest.delete(socket)
  }

  /** A connection goes on as another, once its callers have agreed on keys. */
  upgraded(socket: Socket, secure: Socket): void {
    if (!this.#withoutRequest.delete(socket)) return
    this.#withoutRequest.add(secure)
    secure.once('close', () => this.#withoutRequest.delete(secure))
  }

  #take(socket: Socket): void {
    this.#open += 1
    this.#withoutRequest.add(socket)
    socket.once('close', () => {
      this.#open -= 1
      this.#withoutRequest.delete(socket)
    })
    if (this.#open <= this.#max) return
    const [oldest = socket] = this.#withoutRequest
    this.#withoutRequest.delete(oldest)
    oldest.destroy()
  }
}
