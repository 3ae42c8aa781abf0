import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

import type { DecisionTrailFigures } from '../../audit/decision-trail.js'
import type { IntakeFigures } from '../../events/event-intake.js'

/** Sources of the metrics about the trail and the registry. */
export interface TrailSources {
  readonly intake: () => IntakeFigures
  readonly decisions: () => DecisionTrailFigures
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
  const registers = [registry]
  new Counter({
    name: 'tidegate_events_total',
    help: 'Events by result.',
    labelNames: ['result'],
    registers,
    collect() {
      const { kept, repeated, refused, failed } = sources.intake()
      this.reset()
      for (const [result, count] of Object.entries({ kept, repeated, refused, failed })) {
        this.inc({ result }, count)
      }
    },
  })
  gauge(
    'tidegate_events_waiting_bytes',
    'Total size of events that wait to be written.',
    () => sources.intake().waitingBytes,
  )
  gauge(
    'tidegate_audit_records_unindexed',
    'Audit records not indexed for text search yet.',
    sources.unindexed,
  )
  addDecisionCounter(registers, sources.decisions)
  new Counter({
    name: 'tidegate_reconciliations_total',
    help: 'Registry reconciliations by result.',
    labelNames: ['result'],
    registers,
    collect() {
      const { done, failed } = sources.reconciliations()
      this.reset()
      this.inc({ result: 'success' }, done)
      this.inc({ result: 'failure' }, failed)
    },
  })
  gauge(
    'tidegate_reconciliation_duration_seconds',
    'Duration of the last reconciliation.',
    () => (sources.reconciliations().last?.durationMs ?? 0) / MS_PER_SECOND,
  )

  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read())
      },
    })
  }
}

function addDecisionCounter(registers: Registry[], read: () => DecisionTrailFigures): void {
  new Counter({
    name: 'tidegate_audit_decisions_total',
    help: 'Decisions relevant to the audit trail: recorded, or the reason why not. For log_failed it is unknown whether they were relevant.',
    labelNames: ['result'],
    registers,
    collect() {
      const { recorded, omitted } = read()
      this.reset()
      for (const [result, count] of Object.entries({ recorded, ...omitted })) this.inc({ result }, count)
    },
  })
}
