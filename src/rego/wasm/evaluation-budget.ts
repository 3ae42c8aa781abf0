import { threadCpuMs } from '../../lib/threads/thread-cpu-time.js'
import type { WorkMeter } from '../metering/work-meter.js'
import { EvaluationAbort } from './module/evaluation-abort.js'
import type { EvaluationLimits } from './evaluation-limits.js'
import type { EvaluationSlice } from './evaluation-slice.js'

/** Iterations between two looks at the clock: a fraction of a millisecond to some tens of them. */
export const SLICE = 65_536
/** The same where the thread is wanted for other decisions: some tenths of a millisecond. */
export const SHORT_SLICE = 16_384
/** What a step takes. */
const MS_PER_STEP = 1e-5

/** The counter that a metered module counts down. */
export interface FuelGauge {
  value: number
}

/**
 * Hands out loop iterations to one evaluation at a time, in small portions, until their number or the time is used up. What is
 * left of a slice serves the next evaluation, since setting the counter each time would cost as much as a small one: so
 * an evaluation may make up to a slice more than its number.
 */
export class EvaluationBudget implements WorkMeter {
  readonly #limits: EvaluationLimits
  readonly #gauge: FuelGauge
  readonly #clock: () => number
  #slice: EvaluationSlice | undefined
  #iterationsLeft = 0
  #cpuEndsAtMs = 0
  #stepsUnchecked = 0
  #bytesLeft = 0
  #usedBefore = 0

  /** The clock tells the time that this thread has had on a core, in milliseconds. */
  constructor(limits: EvaluationLimits, gauge: FuelGauge, clock: () => number = threadCpuMs) {
    this.#limits = limits
    this.#gauge = gauge
    this.#clock = clock
  }

  /** Begins to count: until then, while the module is set up, it runs on what it was made with. */
  arm(): void {
    this.#gauge.value = SHORT_SLICE
  }

  /**
   * Starts again for an evaluation over an input of this many bytes. With a slice, it ends by SliceOver as soon as that is over; without,
   * it may use all the time of the limits, on a core.
   */
  start(inputLength: number, slice?: EvaluationSlice): void {
    const { loopIterations, loopIterationsPerInputByte } = this.#limits
    this.#slice = slice
    this.#iterationsLeft = loopIterations + inputLength * loopIterationsPerInputByte
    this.#cpuEndsAtMs = 0
    this.#stepsUnchecked = 0
    this.#bytesLeft = this.#limits.maxMemoryBytes
  }

  spend(steps: number): void {
    this.#iterationsLeft -= steps
    this.#stepsUnchecked += steps
    if (this.#stepsUnchecked < SHORT_SLICE) return
    this.#stepsUnchecked = 0
    this.#check(steps)
  }

  reserve(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw overrun('out of memory')
  }

  exceed(reason: string): never {
    throw overrun(reason)
  }

  /** What was used since this was asked last, or since the start, if it was asked then. */
  take(): number {
    const used = -this.#iterationsLeft - this.#gauge.value
    const taken = used - this.#usedBefore
    this.#usedBefore = used
    return taken
  }

  /** Called when a slice is used up; raises an EvaluationAbort when there is no other. */
  goOn(): void {
    this.#check(0)
    const granted = Math.min(this.#slice === undefined ? SLICE : SHORT_SLICE, this.#iterationsLeft)
    this.#iterationsLeft -= granted
    this.#gauge.value = granted
  }

  /** Most evaluations end within what they are granted at first, and never come here to look at a clock. */
  #check(stepsAhead: number): void {
    if (this.#iterationsLeft <= 0) throw overrun('too many loop iterations or calls')
    if (this.#slice !== undefined) this.#slice.require(stepsAhead * MS_PER_STEP)
    else this.#requireCpuTime()
  }

  #requireCpuTime(): void {
    const { maxDurationMs } = this.#limits
    const nowMs = this.#clock()
    if (this.#cpuEndsAtMs === 0) this.#cpuEndsAtMs = nowMs + maxDurationMs
    if (nowMs > this.#cpuEndsAtMs) throw overrun(`longer than ${maxDurationMs} ms`)
  }
}

function overrun(reason: string): EvaluationAbort {
  return new EvaluationAbort(reason, { isOverBudget: true })
}
