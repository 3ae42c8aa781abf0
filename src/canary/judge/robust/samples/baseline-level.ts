import { sortedQuantile } from '../../../statistics/quantile.js'

/**
 * The level that shares of the baseline refer to: the median size of its values, or their mean size
 * if most are 0.
 */
export function baselineLevel(sorted: Float64Array): number {
  const sizes = (sorted[0] ?? 0) < 0 ? sorted.map(Math.abs).sort() : sorted
  const median = sortedQuantile(sizes, 0.5)
  if (median > 0) return median
  return sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, sizes.length)
}

/** An estimate and its confidence interval as shares of the level. Null if the level is 0. */
export function relativeTo(
  level: number,
  estimate: number,
  [lower, upper]: readonly [number, number],
): { readonly estimate: number; readonly interval: readonly [number, number] } | null {
  if (!(level > 0)) return null
  return { estimate: estimate / level, interval: [lower / level, upper / level] }
}
