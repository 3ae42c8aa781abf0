import { threadCpuMs } from '../../lib/threads/thread-cpu-time.js'
import { EvaluationAbort } from './module/evaluation-abort.js'

/** The evaluation has held its thread for as long as it may: somebody else has to do it again, from the start. */
export class SliceOver extends EvaluationAbort {
  constructor() {
    super('the slice is over')
    this.name = 'SliceOver'
  }
}

/**
 * How long one decision may hold the thread that decides, on a core: what waits for a busy one would wait in another thread, too. It
 * begins when the clock is first looked at, which most decisions never do: all that comes before is less than a slice of fuel.
 */
export class EvaluationSlice {
  readonly #lengthMs: number
  readonly #clock: () => number
  /** When it would have begun had it been on a core ever since; undefined until the clock is looked at. */
  #startMs: number | undefined
  #lastSeenMs = 0
  #cpuStartMs = 0

  /** The clock tells the time that this thread has had on a core, in milliseconds. */
  constructor(lengthMs: number, clock: () => number = threadCpuMs) {
    this.#lengthMs = lengthMs
    this.#clock = clock
  }

  /** For how long it was at work when the clock was last looked at, from the first look on, in milliseconds. */
  get spentMs(): number {
    return this.#startMs === undefined ? 0 : this.#lastSeenMs - this.#startMs
  }

  /** Raises SliceOver when the time is over, or does not suffice for the work that is about to be done. Reads the clock. */
  require(aheadMs = 0): void {
    const nowMs = performance.now()
    this.#lastSeenMs = nowMs
    if (this.#startMs === undefined) {
      this.#startMs = nowMs
      this.#cpuStartMs = this.#clock()
    }
    if (nowMs + aheadMs < this.#startMs + this.#lengthMs) return
    // The time on a core costs twenty times as much to find out, and is at most what has passed.
    const usedMs = this.#clock() - this.#cpuStartMs
    if (usedMs + aheadMs >= this.#lengthMs) throw new SliceOver()
    this.#startMs = nowMs - usedMs
  }
}
