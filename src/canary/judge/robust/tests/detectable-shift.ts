import { normalUpperQuantile } from '../../../statistics/normal.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { studentUpperQuantile } from '../../../statistics/student.js'
import type { CleanSides } from '../samples/metric-tests.js'

/** What an estimate must do to be found. */
export interface Needed {
  /** The chance of finding one where there is no change. */
  readonly error: number
  /** The least change that matters, in the metric's unit. */
  readonly reach: number
  /** The degrees of freedom of the test. */
  readonly freedom: number
}

/** Of ten runs with the change, eight find it. */
const POWER = 0.8
const QUARTILES_IN_DEVIATIONS = 1.349

/**
 * The least shift, in the metric's unit, that is found in most runs: Noether's sample size (1987) turned round for a shift of
 * normal values whose deviation comes from the quartiles. To be found, an estimate must also lie beyond `reach`, the change that
 * does not matter.
 */
export function detectableShift(
  { control, experiment }: CleanSides,
  effectiveN: { readonly control: number; readonly experiment: number },
  needed: Needed,
): number {
  const deviation = (deviationOf(control.sorted) + deviationOf(experiment.sorted)) / 2
  const n = effectiveN.control
  const m = effectiveN.experiment
  // P(x > y) - 1/2 is the shift by 2 sqrt(pi) deviations, near 0.
  const standardError = Math.sqrt((n + m) / (12 * n * m)) * 2 * Math.sqrt(Math.PI) * deviation
  return leastFound(standardError, needed)
}

/** The same for differences between pairs of points. */
export function detectableDifference(differences: Float64Array, effectiveN: number, needed: Needed): number {
  return leastFound(deviationOf(differences.toSorted()) / Math.sqrt(effectiveN), needed)
}

function leastFound(standardError: number, { error, reach, freedom }: Needed): number {
  return (
    Math.max(reach, studentUpperQuantile(error, freedom) * standardError) +
    normalUpperQuantile(1 - POWER) * standardError
  )
}

function deviationOf(sorted: Float64Array): number {
  return (sortedQuantile(sorted, 0.75) - sortedQuantile(sorted, 0.25)) / QUARTILES_IN_DEVIATIONS
}
