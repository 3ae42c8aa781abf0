import type { SeriesAggregate } from '../../sources.js'
import type { StepGrid } from './step-grid.js'

/** The values at the steps of a grid. */
export interface BuiltSeries {
  /** NaN is a gap. */
  readonly values: Float64Array
  /** Number of steps with an infinite value, which are gaps. */
  readonly infinite: number
  /** Steps that got several values without an aggregate to join them. */
  readonly collisions: number
  /** The first step with several values at the same time. */
  readonly contradiction: Contradiction | undefined
}

/** Two values of one time. */
interface Contradiction {
  readonly atMs: number
  readonly values: readonly [number, number]
}

/**
 * Collects values by step and joins several in one step by the aggregate. Without an aggregate, a
 * repeated point (same time and value) is ignored.
 */
export class SeriesBuilder {
  readonly #totals: Float64Array
  readonly #counts: Uint32Array
  /** When the first value of each step was measured, in epoch milliseconds. */
  readonly #times: Float64Array
  #contradiction: Contradiction | undefined
  readonly #join: (total: number, value: number) => number
  readonly #aggregate: SeriesAggregate | undefined

  constructor({ count }: StepGrid, aggregate: SeriesAggregate | undefined) {
    this.#totals = new Float64Array(count)
    this.#counts = new Uint32Array(count)
    this.#times = new Float64Array(aggregate === undefined ? count : 0)
    this.#aggregate = aggregate
    this.#join = joinBy(aggregate)
  }

  /** A value at a step, measured at `atMs`; NaN adds nothing. */
  add(step: number, value: number, atMs: number): void {
    if (Number.isNaN(value)) return
    const count = this.#counts[step] ?? 0
    const total = this.#totals[step] ?? 0
    if (this.#aggregate === undefined && count > 0) {
      if (this.#times[step] === atMs && total === value) return
      if (this.#times[step] === atMs) this.#contradiction ??= { atMs, values: [total, value] }
    } else {
      this.#totals[step] = count === 0 ? value : this.#join(total, value)
      this.#times[step] = atMs
    }
    this.#counts[step] = count + 1
  }

  /**
   * Adds the values of another builder for consecutive steps of the same grid that are still empty
   * here.
   */
  include(part: SeriesBuilder, firstStep: number): void {
    this.#totals.set(part.#totals, firstStep)
    this.#counts.set(part.#counts, firstStep)
    if (this.#aggregate === undefined) this.#times.set(part.#times, firstStep)
    this.#contradiction ??= part.#contradiction
  }

  build(): BuiltSeries {
    const values = this.#totals.map((total, step) => this.#joined(total, this.#counts[step] ?? 0))
    return {
      values: values.map((value) => (Number.isFinite(value) ? value : Number.NaN)),
      infinite: values.filter((value, step) => this.#counts[step] !== 0 && !Number.isFinite(value)).length,
      collisions: this.#aggregate === undefined ? this.#counts.filter((count) => count > 1).length : 0,
      contradiction: this.#contradiction,
    }
  }

  #joined(total: number, count: number): number {
    if (count === 0) return Number.NaN
    return this.#aggregate === 'average' || this.#aggregate === 'units' ? total / count : total
  }
}

function joinBy(aggregate: SeriesAggregate | undefined): (total: number, value: number) => number {
  switch (aggregate) {
    case 'min':
      return Math.min
    case 'max':
      return Math.max
    case 'sum':
    case 'average':
    case 'units':
    case undefined:
      return (total, value) => total + value
  }
}
