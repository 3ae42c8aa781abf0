import type { MetricSpec } from '../../series/types.js'
import { marginsOf, ROUNDING } from './margins.js'
import type { Margins } from './margins.js'
import { harmfulSigns, meanRatio } from './metric-tests.js'
import type { CleanSides, Tested } from './metric-tests.js'
import type { RobustSettings } from './settings.js'

/** The harmful directions of the estimate, which near a bound is a distance from it. */
function signsOf({ distanceFrom }: Tested, { direction }: MetricSpec): readonly (1 | -1)[] {
  const signs = harmfulSigns(direction)
  return distanceFrom === undefined ? signs : signs.map((sign) => (sign > 0 ? -1 : 1))
}

function marginOf(tested: Tested, spec: MetricSpec, settings: RobustSettings): Margins {
  const { distanceFrom, margin, kind } = tested
  const isOwn = distanceFrom !== undefined || kind === 'count'
  const { increase, decrease } = isOwn ? { increase: margin, decrease: margin } : marginsOf(spec, settings)
  return { increase: increase * ROUNDING, decrease: decrease * ROUNDING }
}

/** Whether the whole confidence interval of the change lies beyond the margin in a harmful direction. */
export function isBeyondMargin(tested: Tested, spec: MetricSpec, settings: RobustSettings): boolean {
  if (tested.relative === null) return false
  const [lower, upper] = tested.relative.interval
  const { increase, decrease } = marginOf(tested, spec, settings)
  return signsOf(tested, spec).some((sign) => (sign > 0 ? lower > increase : -upper > decrease))
}

/**
 * Whether the confidence interval shows that no harmful change exceeds the margin, neither of the
 * typical value nor of the mean. With few effective points the interval contains all differences
 * between values of both sides.
 */
export function isWithinMargin(
  tested: Tested,
  sides: CleanSides,
  spec: MetricSpec,
  settings: RobustSettings,
): boolean {
  if (tested.kind !== 'gauge' || tested.relative === null) return false
  const [lower, upper] = tested.relative.interval
  const { increase, decrease } = marginOf(tested, spec, settings)
  const ofMean = tested.distanceFrom === undefined ? (meanRatio(sides) ?? 1) - 1 : 0
  return signsOf(tested, spec).every((sign) =>
    sign > 0 ? upper <= increase && ofMean <= increase : -lower <= decrease && -ofMean <= decrease,
  )
}
