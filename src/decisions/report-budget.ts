const MS_PER_SECOND = 1000
const BURST_SECONDS = 60
/** The rest is kept for refusals, so that a flood of others cannot crowd them out. */
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
    // A clock that was set back starts anew from there.
    const passedMs = Math.max(0, timeMs - this.#atMs)
    this.#atMs = timeMs
    this.#left = Math.min(this.#capacity, this.#left + (passedMs / MS_PER_SECOND) * this.#perSecond)
  }
}
