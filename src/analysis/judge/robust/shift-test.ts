import { medianDifference, orderedDifference } from '../../statistics/ordered-difference.js'
import { rankShift } from '../../statistics/rank-sum-tail.js'
import { studentUpperQuantile, studentUpperTail } from '../../statistics/student.js'
import type { Dependence } from './autocorrelation.js'

/** The shift of one sample against another. */
export interface Shift {
  /** P-values of each direction. */
  readonly pHigh: number
  readonly pLow: number
  readonly estimate: number
  readonly interval: readonly [number, number]
  readonly cliffsDelta: number
}

/** The chance that each bound of the interval is on the wrong side of the truth. */
export interface BoundErrors {
  readonly lower: number
  readonly upper: number
}

/**
 * The Mann-Whitney test with the Hodges-Lehmann shift and its interval from the ordered differences. Dependence in time divides
 * the test's normal score, whose tail is then taken from Student's distribution since the dependence is estimated.
 */
export function testShift(
  experiment: Float64Array,
  control: Float64Array,
  { inflation, freedom }: Dependence,
  errors: BoundErrors,
): Shift {
  const { above, below, cliffsDelta, deviation } = rankShift(experiment, control)
  const widening = Math.sqrt(inflation)
  const pairs = experiment.length * control.length
  const boundAt = (error: number, fromTop: boolean): number => {
    const reach = studentUpperQuantile(error, freedom) * widening * deviation
    const k = Math.max(1, Math.floor(pairs / 2 - reach - 0.5) + 1)
    return orderedDifference(experiment, control, fromTop ? pairs + 1 - k : k)
  }
  return {
    pHigh: studentUpperTail(above / widening, freedom),
    pLow: studentUpperTail(below / widening, freedom),
    estimate: medianDifference(experiment, control),
    interval: [boundAt(errors.lower, false), boundAt(errors.upper, true)],
    cliffsDelta,
  }
}
