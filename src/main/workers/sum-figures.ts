import { AggregatorRegistry } from 'prom-client'
import type { Registry } from 'prom-client'

import type { MetricValues } from '../../http/metrics/open-metrics.js'

export type { MetricValues as Figures }

/**
 * The figures of the main process and of others as those of one: added up, or put together as each of them says. Those that mean one
 * process alone, such as when it began, are the main one's.
 */
export function sumFigures(main: MetricValues, others: readonly MetricValues[]): Registry {
  const shared = others.map((figures) => figures.filter((figure) => !isOfOne(figure)))
  const own = main.map((figure) => (isOfOne(figure) ? { ...figure, aggregator: 'first' as const } : figure))
  return AggregatorRegistry.aggregate([own, ...shared])
}

/** Of processes that have ended, what they counted still counts. */
export async function sumCounts(figures: readonly MetricValues[]): Promise<MetricValues> {
  const counts = figures.map((each) =>
    each.filter(({ type }) => ['counter', 'histogram'].includes(String(type))),
  )
  return await AggregatorRegistry.aggregate(counts).getMetricsAsJSON()
}

function isOfOne({ aggregator }: MetricValues[number]): boolean {
  return aggregator === 'omit'
}
