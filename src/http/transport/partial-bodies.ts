/** Who receives a body, and can do without it. */
export interface BodyReceiver {
  /** Refuses the request for others, and keeps nothing of its body. */
  giveUp(): void
}

/** All bodies that have come in part hold no more than this together. */
export const MAX_PARTIAL_BODY_BYTES = 256 * 1024 * 1024

/**
 * What bodies hold that have come in part. Beyond the bound the one that began first is given up: who sends many bodies and ends none of them takes no memory, and
 * no room from those that come. One of which nothing more comes ends with the time that the server gives all requests.
 */
export class PartialBodies {
  readonly #bytes = new Map<BodyReceiver, number>()
  readonly #maxBytes: number
  #total = 0

  /** `maxBodyBytes` is as large as one body may be: whatever the bound, four of them have room. */
  constructor(maxBodyBytes: number, maxBytes = MAX_PARTIAL_BODY_BYTES) {
    this.#maxBytes = Math.max(maxBytes, 4 * maxBodyBytes)
  }

  /** Bytes that are held now. */
  get total(): number {
    return this.#total
  }

  /** Counts more of a body; may call `giveUp` of this or another receiver before it returns. */
  hold(receiver: BodyReceiver, bytes: number): void {
    this.#bytes.set(receiver, (this.#bytes.get(receiver) ?? 0) + bytes)
    this.#total += bytes
    for (const [oldest] of this.#bytes) {
      if (this.#total <= this.#maxBytes) return
      this.release(oldest)
      oldest.giveUp()
    }
  }

  /** The body is whole, or broke off. May be called again. */
  release(receiver: BodyReceiver): void {
    this.#total -= this.#bytes.get(receiver) ?? 0
    this.#bytes.delete(receiver)
  }
}
