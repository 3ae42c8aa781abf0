import type { Registry } from 'prom-client'

import type { DecisionTrailMetrics } from '../../audit/decision-trail.js'
import type { IntakeMetrics } from '../../events/event-intake.js'
import { ScrapedMetrics } from './scraped-metrics.js'

/** Sources of the metrics about the trail and the registry. */
export interface TrailSources {
  readonly intake: () => IntakeMetrics
  readonly decisions: () => DecisionTrailMetrics
  readonly unindexed: () => Promise<number>
  readonly reconciliations: () => {
    readonly last:
      { readonly isDone: boolean; readonly atMs: number; readonly durationMs: number } | undefined
    readonly done: number
    readonly failed: number
  }
}

const MS_PER_SECOND = 1000

/** Registers the metrics of the trail and the registry. */
export function addTrailMetrics(registry: Registry, sources: TrailSources): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.counters('tidegate_events_total', 'Events by result.', 'result', () => {
    const { kept, repeated, refused, failed } = sources.intake()
    return Object.entries({ kept, repeated, refused, failed })
  })
  metrics.gauge(
    'tidegate_events_waiting_bytes',
    'Total size of events that wait to be written.',
    () => sources.intake().waitingBytes,
  )
  metrics.gauge(
    'tidegate_audit_records_unindexed',
    'Audit records not indexed for text search yet.',
    sources.unindexed,
  )
  metrics.counters(
    'tidegate_audit_decisions_total',
    'Decisions relevant to the audit trail: recorded, or the reason why not. For log_failed it is unknown whether they were relevant.',
    'result',
    () => {
      const { recorded, omitted } = sources.decisions()
      return Object.entries({ recorded, ...omitted })
    },
  )
  metrics.counters('tidegate_reconciliations_total', 'Registry reconciliations by result.', 'result', () => {
    const { done, failed } = sources.reconciliations()
    return Object.entries({ success: done, failure: failed })
  })
  metrics.gauge(
    'tidegate_reconciliation_duration_seconds',
    'Duration of the last reconciliation.',
    () => (sources.reconciliations().last?.durationMs ?? 0) / MS_PER_SECOND,
  )
}
