import { EvaluationAbort } from './evaluation-abort.js'
import type { WorkMeter } from '../work-meter.js'
import type { EvaluationLimits } from './evaluation-limits.js'

/** Iterations between two looks at the clock: a fraction of a millisecond to some tens of them. */
export const SLICE = 65_536

/** The counter that a metered module counts down. */
export interface FuelGauge {
  value: number
}

/**
 * Hands out loop iterations to one evaluation at a time, in slices, until their number or the time is used up. What is
 * left of a slice serves the next evaluation, since setting the counter each time would cost as much as a small one: so
 * an evaluation may make up to a slice more than its number.
 */
export class EvaluationBudget implements WorkMeter {
  readonly #limits: EvaluationLimits
  readonly #gauge: FuelGauge
  #iterationsLeft = 0
  #deadlineMs = 0
  #stepsUnchecked = 0
  #bytesLeft = 0

  constructor(limits: EvaluationLimits, gauge: FuelGauge) {
    this.#limits = limits
    this.#gauge = gauge
  }

  /** Begins to count: until then, while the module is set up, it runs on what it was made with. */
  arm(): void {
    this.#gauge.value = SLICE
  }

  /** Starts anew for an evaluation over an input of so many bytes. */
  start(inputLength: number): void {
    const { loopIterations, loopIterationsPerInputByte } = this.#limits
    this.#iterationsLeft = loopIterations + inputLength * loopIterationsPerInputByte
    this.#deadlineMs = 0
    this.#stepsUnchecked = 0
    this.#bytesLeft = this.#limits.maxMemoryBytes
  }

  spend(steps: number): void {
    this.#iterationsLeft -= steps
    this.#stepsUnchecked += steps
    if (this.#stepsUnchecked < SLICE) return
    this.#stepsUnchecked = 0
    this.#check()
  }

  reserve(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw overrun('out of memory')
  }

  exceed(reason: string): never {
    throw overrun(reason)
  }

  /** Called when a slice is used up; raises an EvaluationAbort when there is no other. */
  goOn(): void {
    this.#check()
    const slice = Math.min(SLICE, this.#iterationsLeft)
    this.#iterationsLeft -= slice
    this.#gauge.value = slice
  }

  #check(): void {
    const nowMs = performance.now()
    // Most evaluations end within a slice and never look at the clock.
    if (this.#deadlineMs === 0) this.#deadlineMs = nowMs + this.#limits.maxDurationMs
    if (this.#iterationsLeft <= 0) throw overrun('too many loop iterations')
    if (nowMs > this.#deadlineMs) throw overrun(`longer than ${this.#limits.maxDurationMs} ms`)
  }
}

function overrun(reason: string): EvaluationAbort {
  return new EvaluationAbort(reason, { isOverBudget: true })
}
