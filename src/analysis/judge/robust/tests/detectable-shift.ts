import { normalUpperQuantile } from '../../../statistics/normal.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import type { CleanSides } from '../samples/metric-tests.js'

/** Of ten runs with the change, eight find it. */
const POWER = 0.8
const QUARTILES_IN_DEVIATIONS = 1.349

/**
 * The least shift, in the metric's unit, that the test finds in most runs: Noether's sample size (1987) turned round for a shift of
 * normal values whose deviation comes from the quartiles.
 */
export function detectableShift(
  { control, experiment }: CleanSides,
  effectiveN: { readonly control: number; readonly experiment: number },
  error: number,
): number {
  const deviation = (deviationOf(control.sorted) + deviationOf(experiment.sorted)) / 2
  const n = effectiveN.control
  const m = effectiveN.experiment
  // P(x > y) - 1/2 is the shift by 2 sqrt(pi) deviations, near 0.
  const superiority = needed(error) * Math.sqrt((n + m) / (12 * n * m))
  return superiority * 2 * Math.sqrt(Math.PI) * deviation
}

/** The same for differences between pairs of points. */
export function detectableDifference(differences: Float64Array, effectiveN: number, error: number): number {
  return (needed(error) * deviationOf(differences.toSorted())) / Math.sqrt(effectiveN)
}

function needed(error: number): number {
  return normalUpperQuantile(error) + normalUpperQuantile(1 - POWER)
}

function deviationOf(sorted: Float64Array): number {
  return (sortedQuantile(sorted, 0.75) - sortedQuantile(sorted, 0.25)) / QUARTILES_IN_DEVIATIONS
}
