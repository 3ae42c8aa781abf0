/** A receiver whose body can be dropped. */
export interface BodyReceiver {
  /** Refuses the request with an error and drops its body. */
  giveUp(): void
}

/** Maximum total size of incomplete bodies. */
export const MAX_PARTIAL_BODY_BYTES = 256 * 1024 * 1024

/**
 * Memory of incomplete bodies. Above the limit, the oldest is dropped, so a client that completes
 * none of its bodies takes no capacity from others. Stalled bodies end at the request timeout.
 */
export class PartialBodies {
  readonly #bytes = new Map<BodyReceiver, number>()
  readonly #maxBytes: number
  #total = 0

  /** `maxBodyBytes` is the limit of one body. At least four of that size fit. */
  constructor(maxBodyBytes: number, maxBytes = MAX_PARTIAL_BODY_BYTES) {
    this.#maxBytes = Math.max(maxBytes, 4 * maxBodyBytes)
  }
  get total(): number {
    return this.#total
  }

  /** Adds bytes of a body. May call `giveUp` of this or another receiver. */
  hold(receiver: BodyReceiver, bytes: number): void {
    this.#bytes.set(receiver, (this.#bytes.get(receiver) ?? 0) + bytes)
    this.#total += bytes
    for (const [oldest] of this.#bytes) {
      if (this.#total <= this.#maxBytes) return
      this.release(oldest)
      oldest.giveUp()
    }
  }

  /** Removes a complete or aborted body. May be called repeatedly. */
  release(receiver: BodyReceiver): void {
    this.#total -= this.#bytes.get(receiver) ?? 0
    this.#bytes.delete(receiver)
  }
}
