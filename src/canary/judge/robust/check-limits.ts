import { sortedQuantile } from '../../statistics/quantile.js'
import { describeSeries } from '../series/describe-series.js'
import type { Limits } from '../series/types.js'

/** A limit that the canary did not keep. */
export interface BrokenLimit {
  readonly change: 'High' | 'Low'
  readonly reason: string
}

const QUANTILES = { median: 0.5, p95: 0.95, p99: 0.99, max: 1 } as const

/**
 * The limit that the values (in ascending order) break, whatever the baseline does. Undefined if
 * they keep all limits.
 */
export function brokenLimit(sorted: Float64Array, limits: Limits | undefined): BrokenLimit | undefined {
  if (limits === undefined || sorted.length === 0) return undefined
  const { figure, max, min } = limits
  const value = figure === 'mean' ? describeSeries(sorted).mean : sortedQuantile(sorted, QUANTILES[figure])
  const short = Number(value.toPrecision(4))
  if (max !== undefined && value > max) {
    return { change: 'High', reason: `The ${figure} of ${short} is above its limit of ${max}` }
  }
  if (min !== undefined && value < min) {
    return { change: 'Low', reason: `The ${figure} of ${short} is below its limit of ${min}` }
  }
  return undefined
}
