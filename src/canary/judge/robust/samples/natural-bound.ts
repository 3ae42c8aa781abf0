import { sortedQuantile } from '../../../statistics/quantile.js'
import type { MetricSpec } from '../../series/types.js'
import type { CleanSide } from './clean-side.js'
import type { CleanSides } from './metric-tests.js'

/** Upper bounds of ratios and percentages. */
const BOUNDS: readonly number[] = [1, 100]
/** A side whose typical value is nearer to the bound than this lives at the bound. */
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

/** A side that differs only in how often it is not at the bound is at it in many of its points. */
function isPiledUp(sides: readonly CleanSide[], bound: number): boolean {
  return sides.some(
    ({ values }) => values.filter((value) => value === bound).length >= AT_BOUND_SHARE * values.length,
  )
}
