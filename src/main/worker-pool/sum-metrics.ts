import { AggregatorRegistry } from 'prom-client'
import type { Registry } from 'prom-client'

import type { MetricValues } from '../../http/metrics/open-metrics.js'

export type { MetricValues }

/**
 * Sums the metrics of the main process and others, or combines them by their aggregators. Metrics
 * of a single process, such as its start time, are those of the main process.
 */
export function sumMetrics(main: MetricValues, others: readonly MetricValues[]): Registry {
  const shared = others.map((metrics) => metrics.filter((metric) => !isOfOneProcess(metric)))
  const own = main.map((metric) =>
    isOfOneProcess(metric) ? { ...metric, aggregator: 'first' as const } : metric,
  )
  return AggregatorRegistry.aggregate([own, ...shared])
}

/** Counters and histograms of ended processes, which still count. */
export async function sumCounts(metrics: readonly MetricValues[]): Promise<MetricValues> {
  const counts = metrics.map((each) =>
    each.filter(({ type }) => ['counter', 'histogram'].includes(String(type))),
  )
  return await AggregatorRegistry.aggregate(counts).getMetricsAsJSON()
}

function isOfOneProcess({ aggregator }: MetricValues[number]): boolean {
  return aggregator === 'omit'
}
