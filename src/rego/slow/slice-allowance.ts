/** However much has been wasted, a decision gets so many milliseconds: most need less than one. */
const LEAST_MS = 1
/** How much of its time the deciding thread may lose to evaluations that it has to give up. */
const SHARE = 0.1
/** What may be lost at once, in milliseconds: a second's share. */
const MOST_MS = 100

/**
 * How long a slice may be now. Each slice that ended without a result is lost time; slices get shorter as more than a tenth of
 * the thread's time is lost, and long again as time goes by.
 */
export class SliceAllowance {
  readonly #sliceMs: number
  #savedMs = MOST_MS
  #savedAtMs = 0

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** Whether slices have their full length. */
  isFull(nowMs: number): boolean {
    return this.#saved(nowMs) >= this.#sliceMs
  }

  /** The length of a slice that begins now, in milliseconds. */
  lengthMs(nowMs: number): number {
    // Nothing was lost for long: the usual case, which needs no arithmetic.
    if (this.#savedMs === MOST_MS) return this.#sliceMs
    return Math.min(this.#sliceMs, Math.max(LEAST_MS, this.#saved(nowMs)))
  }

  /** Tells that so many milliseconds were lost. */
  lose(lostMs: number, nowMs: number): void {
    this.#savedMs = this.#saved(nowMs) - lostMs
    this.#savedAtMs = nowMs
  }

  #saved(nowMs: number): number {
    // A clock that was set back starts again from there.
    if (nowMs < this.#savedAtMs) this.#savedAtMs = nowMs
    const passedMs = nowMs - this.#savedAtMs
    return Math.min(MOST_MS, this.#savedMs + passedMs * SHARE)
  }
}
