import type { Socket } from 'node:net'

/** Maximum total size of unread responses. */
export const MAX_UNREAD_BYTES = 256 * 1024 * 1024
/** Smaller responses do not count. A connection that does not read gets no second one. */
const LARGE_BYTES = 64 * 1024

/**
 * Memory of large responses that are not flushed yet. Above the limit, the connection with the
 * oldest one is closed, so a client that does not read takes no memory from others.
 */
export class UnreadAnswers {
  readonly #bytes = new Map<Socket, number>()
  readonly #maxBytes: number
  #total = 0

  constructor(maxBytes = MAX_UNREAD_BYTES) {
    this.#maxBytes = maxBytes
  }
  get total(): number {
    return this.#total
  }

  /**
   * Adds a response. Returns the function to call when it is flushed or aborted. May close other
   * connections.
   */
  hold(socket: Socket, bytes: number): (() => void) | undefined {
    if (bytes < LARGE_BYTES) return undefined
    this.#bytes.set(socket, (this.#bytes.get(socket) ?? 0) + bytes)
    this.#total += bytes
    for (const [oldest] of this.#bytes) {
      if (this.#total <= this.#maxBytes || oldest === socket) break
      this.#release(oldest, Infinity)
      oldest.destroy()
    }
    return () => this.#release(socket, bytes)
  }

  /** A connection's next response can be counted before the previous one is reported as flushed. */
  #release(socket: Socket, bytes: number): void {
    const held = this.#bytes.get(socket) ?? 0
    this.#total -= Math.min(bytes, held)
    if (bytes >= held) this.#bytes.delete(socket)
    else this.#bytes.set(socket, held - bytes)
  }
}
