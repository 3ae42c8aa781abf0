import { medianDifference, orderedDifference } from '../../../statistics/ordered-difference.js'
import { normalScoreTest, shiftAtLevel } from '../../../statistics/normal-scores.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import { studentUpperQuantile, studentUpperTail } from '../../../statistics/student.js'
import type { Dependence } from '../samples/autocorrelation.js'

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
 * Maximum total number of points for which the test enumerates all rank assignments. Beyond it,
 * normal scores are used.
 */
const EXACT_UP_TO = 50
const QUARTILES_IN_DEVIATIONS = 1.349
/** First step of the search for a bound, as a share of its expected distance from the estimate. */
const FIRST_STEP = 0.1

/**
 * The shift test with the Hodges-Lehmann estimate and a confidence interval. Dependence in time
 * divides the test's normal score. The tail then comes from Student's distribution, since the
 * dependence is an estimate.
 */
export function testShift(
  experiment: Float64Array,
  control: Float64Array,
  { inflation, freedom }: Dependence,
  errors: BoundErrors,
): Shift {
  const widening = Math.sqrt(inflation)
  const estimate = medianDifference(experiment, control)
  const ranks = rankShift(experiment, control)
  const reach = (error: number): number => studentUpperQuantile(error, freedom) * widening
  const reaches = { lower: reach(errors.lower), upper: reach(errors.upper) }
  const isSmall = experiment.length + control.length <= EXACT_UP_TO
  const scores = isSmall ? ranks : scoresOf(experiment, control)
  return {
    pHigh: studentUpperTail(scores.above / widening, freedom),
    pLow: studentUpperTail(scores.below / widening, freedom),
    estimate,
    interval: isSmall
      ? rankInterval(experiment, control, ranks.deviation, reaches)
      : scoreInterval(experiment, control, estimate, reaches),
    cliffsDelta: ranks.cliffsDelta,
  }
}

function scoresOf(x: Float64Array, y: Float64Array): { above: number; below: number } {
  const above = normalScoreTest(x, y).at(0)
  return { above, below: -above }
}

/**
 * The bounds are ordered differences whose ranks the test determines (Hollander and Wolfe, 4.3).
 */
function rankInterval(
  x: Float64Array,
  y: Float64Array,
  deviation: number,
  reaches: BoundErrors,
): readonly [number, number] {
  const pairs = x.length * y.length
  const rankOf = (reach: number): number => Math.max(1, Math.floor(pairs / 2 - reach * deviation - 0.5) + 1)
  return [
    orderedDifference(x, y, rankOf(reaches.lower)),
    orderedDifference(x, y, pairs + 1 - rankOf(reaches.upper)),
  ]
}

/**
 * The bounds are the shifts that the test does not reject. The search starts at their place for
 * normal values.
 */
function scoreInterval(
  x: Float64Array,
  y: Float64Array,
  estimate: number,
  reaches: BoundErrors,
): readonly [number, number] {
  const test = normalScoreTest(x, y)
  const ends = [(x[0] ?? 0) - (y.at(-1) ?? 0), (x.at(-1) ?? 0) - (y[0] ?? 0)] as const
  const spread = (quartileDistance(x) + quartileDistance(y)) / (2 * QUARTILES_IN_DEVIATIONS)
  const error = Math.max(spread * Math.sqrt(1 / x.length + 1 / y.length), (ends[1] - ends[0]) / 1e6)
  const boundAt = (reach: number): number =>
    shiftAtLevel(test, reach, ends, estimate - reach * error, Math.abs(reach) * error * FIRST_STEP)
  return [boundAt(reaches.lower), boundAt(-reaches.upper)]
}

function quartileDistance(sorted: Float64Array): number {
  return sortedQuantile(sorted, 0.75) - sortedQuantile(sorted, 0.25)
}
