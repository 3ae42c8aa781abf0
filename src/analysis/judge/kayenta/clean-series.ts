import { sortedQuantile } from '../../statistics/quantile.js'
import type { MetricSpec } from '../types.js'

/** The values that are compared: gaps left out or made 0, then outliers left out if asked (analysis.md 1.2, steps 1, 2). */
export function cleanSeries(values: Float64Array, spec: MetricSpec): Float64Array {
  const filled =
    spec.nanStrategy === 'replace'
      ? values.map((value) => (Number.isNaN(value) ? 0 : value))
      : values.filter((value) => !Number.isNaN(value))
  return spec.outliers.strategy === 'remove' ? withoutOutliers(filled, spec.outliers.factor) : filled
}

function withoutOutliers(values: Float64Array, factor: number): Float64Array {
  if (values.length === 0) return values
  const sorted = values.toSorted()
  const [q1, q3] = [sortedQuantile(sorted, 0.25), sortedQuantile(sorted, 0.75)]
  const reach = factor * (q3 - q1)
  const low = Math.min(sortedQuantile(sorted, 0.01), q1 - reach)
  const high = Math.max(sortedQuantile(sorted, 0.99), q3 + reach)
  return values.filter((value) => value >= low && value <= high)
}
