/** The quantile by linear interpolation of values in ascending order; NaN without values. */
export function sortedQuantile(sorted: ArrayLike<number>, quantile: number): number {
  const place = (sorted.length - 1) * quantile
  const below = Math.floor(place)
  const low = sorted[below] ?? Number.NaN
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? Number.NaN
  const share = place - below
  const distance = high - low
  return Number.isFinite(distance) ? low + distance * share : low * (1 - share) + high * share
}

/**
 * The range without outliers: 1st and 99th percentile, or the quartiles extended by `factor` times
 * their distance if that is wider.
 */
export function outlierFences(
  sorted: Float64Array,
  factor: number,
): { readonly low: number; readonly high: number } {
  const [q1, q3] = [sortedQuantile(sorted, 0.25), sortedQuantile(sorted, 0.75)]
  const reach = factor * (q3 - q1)
  return {
    low: Math.min(sortedQuantile(sorted, 0.01), q1 - reach),
    high: Math.max(sortedQuantile(sorted, 0.99), q3 + reach),
  }
}
