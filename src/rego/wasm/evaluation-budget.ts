import { threadCpuMs } from '../../lib/threads/thread-cpu-time.js'
import type { WorkMeter } from '../metering/work-meter.js'
import { EvaluationAbort } from './module/evaluation-abort.js'
import type { EvaluationLimits } from './evaluation-limits.js'

/** Iterations between checks of the clock: up to some tens of milliseconds. */
export const SLICE = 65_536
/** Iterations between checks within a slice: some tenths of a millisecond. */
const SHORT_SLICE = 16_384
/** Estimated duration of a step. */
const MS_PER_STEP = 1e-5

/** The counter that a metered module counts down. */
export interface FuelGauge {
  value: number
}

/**
 * Grants loop iterations to one evaluation at a time, in small portions, until their limit or the
 * time limit is reached. The rest of a portion carries over to the next evaluation, because setting
 * the counter costs as much as a small evaluation. An evaluation may therefore exceed its limit by
 * one portion.
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

  /** `clock` returns the CPU time of this thread in milliseconds. */
  constructor(limits: EvaluationLimits, gauge: FuelGauge, clock: () => number = threadCpuMs) {
    this.#limits = limits
    this.#gauge = gauge
    this.#clock = clock
  }

  /** Starts counting. Until then the module is set up without a limit. */
  arm(): void {
    this.#gauge.value = SHORT_SLICE
  }

  /**
   * Starts an evaluation over an input of `inputLength` bytes. With a slice, the evaluation ends by
   * SliceOver when the slice is over; without one, it may use the whole CPU time limit.
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

  /** Returns the fuel used since the last call. */
  take(): number {
    const used = -this.#iterationsLeft - this.#gauge.value
    const taken = used - this.#usedBefore
    this.#usedBefore = used
    return taken
  }

  /** Called when a portion is used up. Grants another one or throws an EvaluationAbort. */
  refuel(): void {
    this.#check(0)
    const granted = Math.min(this.#slice === undefined ? SLICE : SHORT_SLICE, this.#iterationsLeft)
    this.#iterationsLeft -= granted
    this.#gauge.value = granted
  }

  /** Most evaluations end within their first portion and never check the clock. */
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
