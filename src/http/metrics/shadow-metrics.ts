import type { Registry } from 'prom-client'

import type { ShadowView } from '../../impact/shadow-view.js'
import { ScrapedMetrics } from './scraped-metrics.js'

/** Registers the metric about the shadow. It starts at 0 again when other policies serve. */
export function addShadowMetrics(registry: Registry, view: () => ShadowView): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.counters(
    'tidegate_shadow_decisions_total',
    'Decisions by the outcome of the shadow (policies.shadow), or the reason why it was not evaluated. They start at 0 again when other policies serve.',
    'result',
    () => {
      const { dropped, leftOut, result } = view()
      const changed = Object.values(result?.changes ?? {}).reduce((sum, count) => sum + count, 0)
      return Object.entries({
        same: (result?.compared.total ?? 0) - changed,
        changed,
        not_replayable: result?.notReplayable.total ?? 0,
        dropped,
        left_out: leftOut,
      })
    },
  )
}

/** Registers the metric about stages, whose numbers by outcome are given. */
export function addStageMetrics(registry: Registry, ended: ReadonlyMap<string, number>): void {
  new ScrapedMetrics(registry).counters(
    'tidegate_policy_stages_total',
    'Stages of new policies by how they ended: promoted, taken_back, or replaced by other policies.',
    'outcome',
    () => ended,
  )
}
