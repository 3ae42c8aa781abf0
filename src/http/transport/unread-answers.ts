import type { Socket } from 'node:net'

/** All answers together that nobody has read yet hold no more than this. */
export const MAX_UNREAD_BYTES = 256 * 1024 * 1024
/** Smaller ones do not count: a connection that does not read gets no second one. */
const LARGE_BYTES = 64 * 1024

/**
 * What large answers hold until their callers have read them. Beyond the bound the connection whose answer has waited longest is ended: who asks for
 * much and reads none of it takes no memory from others.
 */
export class UnreadAnswers {
  readonly #bytes = new Map<Socket, number>()
  readonly #maxBytes: number
  #total = 0

  constructor(maxBytes = MAX_UNREAD_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that are held now. */
  get total(): number {
    return this.#total
  }

  /** Counts an answer that is about to be written; returns what to call when it is out, or never will be. May end other connections. */
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

  /** Of a connection the next answer may be held before it is told that the one before is out. */
  #release(socket: Socket, bytes: number): void {
    const held = this.#bytes.get(socket) ?? 0
    this.#total -= Math.min(bytes, held)
    if (bytes >= held) this.#bytes.delete(socket)
    else this.#bytes.set(socket, held - bytes)
  }
}
