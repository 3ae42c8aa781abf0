import { cleanPoints } from '../samples/clean-side.js'
import type { CleanSide } from '../samples/clean-side.js'
import { baselineLevel } from '../samples/baseline-level.js'
import type { CleanSides, Tested } from '../samples/metric-tests.js'
import { isMostlyZero } from '../samples/kind-of-values.js'
import type { RobustSettings } from '../samples/settings.js'
import { describeSeries } from '../../series/describe-series.js'
import type { Direction, MetricSpec, TestOutcome } from '../../series/types.js'
import { testGauge } from './test-gauge.js'
import { testOccurrence } from './test-occurrence.js'
import { sortedQuantile } from '../../../statistics/quantile.js'

/** Default margin as a share of the distance from the bound, applied */
const MARGIN = 0.25
/** if the distance is at least this share of the bound. */
const MIN_SHARE = 1e-4
/**
 * Error share for rare shortfalls: they occur in more points than mostly-zero values usually have,
 * and the mid-p test exceeds its error slightly there.
 */
const SELDOM_SHARE = 0.7
/** Digits of a distance in texts, and the maximum number of decimals. */
const DISTANCE_DIGITS = 2
const MAX_DECIMALS = 12
const TURNED: Readonly<Record<Direction, Direction>> = {
  increase: 'decrease',
  decrease: 'increase',
  either: 'either',
}

/**
 * Tests the distance of the values from a bound that they cannot exceed. Estimates are of that
 * distance, directions are those of the values.
 */
export function testDistance(
  sides: CleanSides,
  bound: number,
  spec: MetricSpec,
  settings: RobustSettings,
): Tested {
  const distances = {
    control: distanceOf(sides.control, bound),
    experiment: distanceOf(sides.experiment, bound),
  }
  const level = baselineLevel(distances.control.sorted)
  const margin = marginOf(sides, bound, spec, level)
  const turned: MetricSpec = {
    ...spec,
    direction: TURNED[spec.direction],
    margin,
    effectSize: { ...spec.effectSize, measure: 'meanRatio', allowedIncrease: 1, allowedDecrease: 1 },
  }
  const isSeldom = isMostlyZero(distances.control) || isMostlyZero(distances.experiment)
  const tested = isSeldom
    ? testOccurrence(distances, turned, { ...settings, alpha: settings.alpha * SELDOM_SHARE })
    : testGauge(distances, turned, settings)
  const [now, before] = [distances.experiment, distances.control].map(
    ({ values }) => describeSeries(values).mean,
  )
  const change = (now ?? 0) - (before ?? 0)
  const reach = margin * level
  const shown = (distance = 0): string => nearBound(bound, distance, Math.min(now ?? 0, before ?? 0))
  const says = `${shown(now)} on average, ${shown(before)} in the baseline`
  return {
    ...tested,
    distanceFrom: bound,
    margin,
    tests: tested.tests.map((outcome): TestOutcome => ({
      ...outcome,
      change: outcome.change === 'High' ? 'Low' : 'High',
      matters: outcome.matters && (outcome.change === 'High' ? change : -change) > reach,
      says: `${says}. Distance from ${bound}: ${outcome.says}`,
    })),
  }
}

/** A value near its bound, with enough digits to show the smaller distance: 99.95 of 100. */
function nearBound(bound: number, distance: number, smaller: number): string {
  const decimals = smaller > 0 ? DISTANCE_DIGITS - Math.ceil(Math.log10(smaller)) : DISTANCE_DIGITS
  return String(Number((bound - distance).toFixed(Math.min(MAX_DECIMALS, Math.max(0, decimals)))))
}

function distanceOf({ values, ...side }: CleanSide, bound: number): CleanSide {
  return cleanPoints({ ...side, values: values.map((value) => bound - value) })
}

/**
 * The margin as a share of the distance. A margin of the values themselves, as in Kayenta, keeps
 * its size in the metric's unit.
 */
function marginOf(
  { control }: CleanSides,
  bound: number,
  { margin, upperBound, effectSize, direction }: MetricSpec,
  level: number,
): number {
  if (margin !== undefined && upperBound !== undefined) return margin
  const { measure, allowedIncrease, allowedDecrease } = effectSize
  const allowed = direction === 'increase' ? allowedIncrease - 1 : 1 - allowedDecrease
  const ofValues = margin ?? (measure === 'meanRatio' && allowed > 0 ? allowed : undefined)
  if (!(level > 0)) return MARGIN
  if (ofValues !== undefined) return (ofValues * baselineLevel(control.sorted)) / level
  return Math.max(MARGIN, (MIN_SHARE * bound) / level)
}

/** Upper bounds of ratios and percentages. */
const BOUNDS: readonly number[] = [1, 100]
/** Minimum typical value of a side near the bound, as a share of the bound. */
const NEAR_SHARE = 0.9
/** Minimum share of points exactly at the bound that is not chance. */
const AT_BOUND_SHARE = 0.1
/** Names of metrics that are good at their upper bound. */
const GOOD =
  /succe|avail|uptime|\bhit|_hit|ratio|percent|\bpct|_pct|%|health|reachab|deliver|complet|valid|\bsli\b|\bslo\b|apdex|non.?err|err\w*.?free/i
/** Names of metrics that are bad at their upper bound, or that do not measure outcomes. */
const NOT_GOOD =
  /cpu|mem|disk|util|usage|used|load|satur|throttl|idle|quota|capacity|fail|(?<!non.?)err(?!\w*.?free)|drop|loss|miss|reject|denied|timeout|full/i

/**
 * The bound that a metric cannot exceed and that its baseline nearly reaches, such as the 100 of a
 * success rate. The distance from it is then compared: 99.5 % has ten times the failures of 99.95
 * %. Declared by `upperBound`, or detected from the values and the name. Undefined if there is
 * none.
 */
export function naturalBound({ control, experiment }: CleanSides, spec: MetricSpec): number | undefined {
  const { upperBound, kind, name } = spec
  if (upperBound === false || kind === 'count' || control.hasExposure) return undefined
  const sides = [control, experiment]
  const isBound = (bound: number): boolean =>
    sides.every(({ sorted }) => (sorted[0] ?? -1) >= 0 && (sorted.at(-1) ?? Infinity) <= bound)
  if (upperBound !== undefined) return isBound(upperBound) ? upperBound : undefined
  const bound = BOUNDS.find(
    (each) => isBound(each) && sortedQuantile(control.sorted, 0.5) >= NEAR_SHARE * each,
  )
  if (bound === undefined) return undefined
  if (NOT_GOOD.test(name)) return undefined
  return GOOD.test(name) || isPiledUp(sides, bound) ? bound : undefined
}

/**
 * Whether a side is at the bound in many of its points, so that the frequency of shortfalls
 * matters.
 */
function isPiledUp(sides: readonly CleanSide[], bound: number): boolean {
  return sides.some(
    ({ values }) => values.filter((value) => value === bound).length >= AT_BOUND_SHARE * values.length,
  )
}
