import { threadCpuMs } from '../../lib/threads/thread-cpu-time.js'
import { EvaluationAbort } from './module/evaluation-abort.js'

/** Thrown when the time on this thread is used up. A slow thread starts over. */
export class SliceOver extends EvaluationAbort {
  constructor() {
    super('the slice is over')
    this.name = 'SliceOver'
  }
}

/**
 * The CPU time that one decision may hold the deciding thread. It begins with the first check of
 * the clock, which most decisions never reach: everything before it takes less than one portion of
 * fuel.
 */
export class EvaluationSlice {
  readonly #lengthMs: number
  readonly #clock: () => number
  /** The start, moved forward by the time spent off the CPU; undefined until the first check. */
  #startMs: number | undefined
  #lastCheckMs = 0
  #cpuStartMs = 0

  /** `clock` returns the CPU time of this thread in milliseconds. */
  constructor(lengthMs: number, clock: () => number = threadCpuMs) {
    this.#lengthMs = lengthMs
    this.#clock = clock
  }

  /** Time from the first to the last check of the clock, in milliseconds. */
  get spentMs(): number {
    return this.#startMs === undefined ? 0 : this.#lastCheckMs - this.#startMs
  }

  /** Throws SliceOver if less than `aheadMs` milliseconds are left. Reads the clock. */
  require(aheadMs = 0): void {
    const nowMs = performance.now()
    this.#lastCheckMs = nowMs
    if (this.#startMs === undefined) {
      this.#startMs = nowMs
      this.#cpuStartMs = this.#clock()
    }
    if (nowMs + aheadMs < this.#startMs + this.#lengthMs) return
    // Reading the CPU time costs twenty times as much as reading the clock, and CPU time never
    // exceeds elapsed time.
    const usedMs = this.#clock() - this.#cpuStartMs
    if (usedMs + aheadMs >= this.#lengthMs) throw new SliceOver()
    this.#startMs = nowMs - usedMs
  }
}
