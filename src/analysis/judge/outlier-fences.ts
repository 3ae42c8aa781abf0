import { sortedQuantile } from '../statistics/quantile.js'

/** The values between which none is an outlier: 1st and 99th percentile, or the quartiles and `factor` times their distance if wider. */
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
