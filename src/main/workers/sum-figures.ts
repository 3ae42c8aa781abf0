import { AggregatorRegistry } from 'prom-client'
import type { Registry } from 'prom-client'

import type { Figures } from '../../http/pipeline/figures/open-metrics.js'

export type { Figures }

/**
 * The figures of the main process and of others as those of one: added up, or put together as each of them says. Those that mean one
 * process alone, such as when it began, are the main one's.
 */
export function sumFigures(main: Figures, others: readonly Figures[]): Registry {
  const shared = others.map((figures) => figures.filter((figure) => !isOfOne(figure)))
  const own = main.map((figure) => (isOfOne(figure) ? { ...figure, aggregator: 'first' as const } : figure))
  return AggregatorRegistry.aggregate([own, ...shared])
}

/** Of processes that have ended, what they counted still counts. */
export async function sumCounts(figures: readonly Figures[]): Promise<Figures> {
  const counts = figures.map((each) =>
    each.filter(({ type }) => ['counter', 'histogram'].includes(String(type))),
  )
  return await AggregatorRegistry.aggregate(counts).getMetricsAsJSON()
}

function isOfOne({ aggregator }: Figures[number]): boolean {
  return aggregator === 'omit'
}
