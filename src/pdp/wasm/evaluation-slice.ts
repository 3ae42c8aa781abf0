import { EvaluationAbort } from './module/evaluation-abort.js'

/** The evaluation has held its thread for as long as it may: somebody else has to do it again, from the start. */
export class SliceOver extends EvaluationAbort {
  constructor() {
    super('the slice is over')
    this.name = 'SliceOver'
  }
}

/**
 * How long one decision may hold the thread that decides. It begins when the clock is first looked at, which most decisions
 * never do: all that comes before is less than a slice of fuel.
 */
export class EvaluationSlice {
  readonly #lengthMs: number
  #endsAtMs = 0
  #lastSeenMs = 0

  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs
  }

  /** For how long it was at work when the clock was last looked at, from the first look on, in milliseconds. */
  get spentMs(): number {
    return this.#endsAtMs === 0 ? 0 : this.#lastSeenMs - this.#endsAtMs + this.#lengthMs
  }

  /** Raises SliceOver when the time is over, or does not suffice for the work that is about to be done. Reads the clock. */
  require(aheadMs = 0): void {
    const nowMs = performance.now()
    this.#lastSeenMs = nowMs
    if (this.#endsAtMs === 0) this.#endsAtMs = nowMs + this.#lengthMs
    if (nowMs + aheadMs >= this.#endsAtMs) throw new SliceOver()
  }
}
