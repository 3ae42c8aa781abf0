import type { Server, Socket } from 'node:net'

/**
 * Limits the connections of a server. Above the limit, the oldest connection without a complete
 * request is closed, possibly the new one. So idle connections cannot displace active clients.
 */
export class ConnectionLimit {
  readonly #withoutRequest = new Set<Socket>()
  readonly #max: number
  #open = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Must be called after the server's own connection listeners were added. */
  watch(server: Server): void {
    server.prependListener('connection', (socket: Socket) => this.#take(socket))
  }

  /** A connection sent its first complete request. */
  requestReceived(socket: Socket): void {
    this.#withoutRequest.delete(socket)
  }

  /** A TLS handshake completed: `secure` replaces `socket`. */
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
