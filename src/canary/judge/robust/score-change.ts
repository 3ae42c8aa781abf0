import type { MetricSpec, TestOutcome } from '../series/types.js'
import type { Tested } from './samples/metric-tests.js'

/** A found change takes at least half of the points. */
const MAX_SCORE = 50
/** Without a critical limit, doubling (or falling to nothing) costs all. */
const WORST = 1

/**
 * The score of a changed metric: 50 for the least change that counts, 0 from the critical change
 * on, by the near bound of the confidence interval.
 */
export function scoreChange(
  { change }: TestOutcome,
  { relative, distanceFrom }: Tested,
  { effectSize }: MetricSpec,
): number {
  if (relative === null) return 0
  const isGrowth = (change === 'High') === (distanceFrom === undefined)
  const near = isGrowth ? relative.interval[0] : -relative.interval[1]
  const limit =
    change === 'High' ? limitOf(effectSize.criticalIncrease - 1) : limitOf(1 - effectSize.criticalDecrease)
  const severity = Math.min(1, Math.max(0, near) / limit)
  return Math.round(MAX_SCORE * (1 - severity) * 100) / 100
}

function limitOf(critical: number): number {
  return critical > 0 && critical !== 0.5 ? critical : WORST
}
