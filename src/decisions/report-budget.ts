const MS_PER_SECOND = 1000
const BURST_SECONDS = 60
/** No evaluation takes so long. */
const LATEST_MS = 300_000
/** The rest is stored for refusals, so that a flood of others cannot crowd them out. */
const SHARE_OF_OTHERS = 0.5

/** How many decisions may be reported: a rate that holds over a minute, so that a burst within it passes whole. */
export class ReportBudget {
  readonly #perSecond: number
  readonly #capacity: number
  #left: number
  #atMs = -Infinity

  constructor(perSecond: number) {
    this.#perSecond = perSecond
    this.#capacity = perSecond * BURST_SECONDS
    this.#left = this.#capacity
  }

  /** Takes one decision from the budget, made at a time in milliseconds; false when there is nothing left for it. */
  spend(timeMs: number, isRefusal: boolean): boolean {
    this.#refill(timeMs)
    const reserved = isRefusal ? 0 : this.#capacity * SHARE_OF_OTHERS
    if (this.#left - 1 < reserved) return false
    this.#left -= 1
    return true
  }

  #refill(timeMs: number): void {
    const passedMs = timeMs - this.#atMs
    // Decisions that took long come behind later ones: the time since is not given twice.
    if (passedMs < 0 && passedMs > -LATEST_MS) return
    // A clock that was set back starts again from there.
    this.#atMs = timeMs
    this.#left = Math.min(
      this.#capacity,
      this.#left + (Math.max(0, passedMs) / MS_PER_SECOND) * this.#perSecond,
    )
  }
}
