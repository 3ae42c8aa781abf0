/** Shortest slice in milliseconds. Most decisions take less than one. */
const LEAST_MS = 1
/** Share of the deciding thread's time that aborted evaluations may use. */
const SHARE = 0.1
/** Largest burst of lost time in milliseconds: the share of one second. */
const MOST_MS = 100

/**
 * Calculates the length of slices. Each aborted slice is lost time. Slices become shorter when more
 * than a tenth of the thread's time is lost, and recover over time.
 */
export class SliceAllowance {
  readonly #sliceMs: number
  #savedMs = MOST_MS
  #savedAtMs = 0

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** True if slices have their full length. */
  isFull(nowMs: number): boolean {
    return this.#saved(nowMs) >= this.#sliceMs
  }

  /** The length of a slice that begins now, in milliseconds. */
  lengthMs(nowMs: number): number {
    // Nothing was lost for long: the usual case, which needs no arithmetic.
    if (this.#savedMs === MOST_MS) return this.#sliceMs
    return Math.min(this.#sliceMs, Math.max(LEAST_MS, this.#saved(nowMs)))
  }

  /** Adds lost time in milliseconds. */
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
