import { outlierFences } from '../outlier-fences.js'
import type { MetricSpec } from '../types.js'

/** The values that are compared: gaps left out or made 0, then outliers left out if asked (analysis.md 1.2, steps 1, 2). */
export function cleanSeries(values: Float64Array, spec: MetricSpec): Float64Array {
  const filled =
    spec.nanStrategy === 'replace'
      ? values.map((value) => (Number.isNaN(value) ? 0 : value))
      : values.filter((value) => !Number.isNaN(value))
  if (spec.outliers.strategy === 'keep' || filled.length === 0) return filled
  const { low, high } = outlierFences(filled.toSorted(), spec.outliers.factor)
  return filled.filter((value) => value >= low && value <= high)
}
