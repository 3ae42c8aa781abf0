import { COST_METRIC } from './evaluation-metrics.js'
import type { MetricValues } from './open-metrics.js'

/** Cost of the evaluations of a package since the service started, from every 16th decision. */
export interface PackageCost {
  /** Number of measured evaluations. */
  readonly evaluations: number
  /** Its part of the cost of all packages, from 0 to 1. */
  readonly share: number
  /** Loop iterations, function calls and equivalent work of built-ins. */
  readonly mean: number
  /** Upper bound of the bucket of the 99th percentile; undefined above the largest bucket. */
  readonly p99AtMost: number | undefined
}

/** Costs by the name of the package: `app.rules`. */
export type PackageCosts = ReadonlyMap<string, PackageCost>

const PERCENTILE = 0.99

/** Samples of one package in the histogram. */
interface PackageSamples {
  sum: number
  count: number
  readonly buckets: { readonly atMost: number; readonly count: number }[]
}

/** Reads the costs from the metrics of all processes. Packages without evaluations are missing. */
export function packageCosts(metrics: MetricValues): PackageCosts {
  const byPackage = new Map<string, PackageSamples>()
  const values = metrics.find(({ name }) => name === COST_METRIC)?.values ?? []
  for (const { value, labels, metricName } of values as readonly Sample[]) {
    const name = String(labels['package']).replace(/^data\./, '')
    const samples = byPackage.get(name) ?? { sum: 0, count: 0, buckets: [] }
    byPackage.set(name, samples)
    if (metricName === `${COST_METRIC}_sum`) samples.sum = value
    else if (metricName === `${COST_METRIC}_count`) samples.count = value
    else samples.buckets.push({ atMost: Number(labels['le']), count: value })
  }
  const total = [...byPackage.values()].reduce((sum, each) => sum + each.sum, 0)
  const costs = [...byPackage]
    .filter(([, { count }]) => count > 0)
    .map(([name, { sum, count, buckets }]): [string, PackageCost] => {
      const bounds = buckets.filter(({ atMost }) => Number.isFinite(atMost))
      const bucket = bounds
        .toSorted((a, b) => a.atMost - b.atMost)
        .find((each) => each.count >= count * PERCENTILE)
      const share = total === 0 ? 0 : sum / total
      return [name, { evaluations: count, share, mean: sum / count, p99AtMost: bucket?.atMost }]
    })
  return new Map(costs)
}

interface Sample {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly metricName?: string | undefined
}
