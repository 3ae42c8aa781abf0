import { normalUpperQuantile } from '../../statistics/normal.js'
import { sortedQuantile } from '../../statistics/quantile.js'
import type { CleanSides } from './metric-tests.js'

/** Of ten runs with the change, eight find it. */
const POWER = 0.8
const QUARTILES_IN_DEVIATIONS = 1.349

/**
 * The least shift, as a share of the level, that the test finds in most runs: Noether's sample size (1987) turned round for a
 * shift of normal values whose deviation comes from the quartiles. Null where the level is 0.
 */
export function detectableShift(
  { control, experiment }: CleanSides,
  effectiveN: { readonly control: number; readonly experiment: number },
  error: number,
  level: number,
): number | null {
  if (!(level > 0)) return null
  const spread = (sorted: Float64Array): number =>
    (sortedQuantile(sorted, 0.75) - sortedQuantile(sorted, 0.25)) / QUARTILES_IN_DEVIATIONS
  const deviation = (spread(control.sorted) + spread(experiment.sorted)) / 2
  const n = effectiveN.control
  const m = effectiveN.experiment
  const z = normalUpperQuantile(error) + normalUpperQuantile(1 - POWER)
  // P(x > y) - 1/2 is the shift by 2 sqrt(pi) deviations, near 0.
  const superiority = z * Math.sqrt((n + m) / (12 * n * m))
  return (superiority * 2 * Math.sqrt(Math.PI) * deviation) / level
}
