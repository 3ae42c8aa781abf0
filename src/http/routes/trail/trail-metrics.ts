import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

import type { DecisionTrailMetrics } from '../../../audit/decision-trail.js'
import type { IntakeMetrics } from '../../../events/event-intake.js'

/** Where the figures of the trail and the registry come from. */
export interface TrailFigures {
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

/** Adds the figures of the trail and the registry to `/metrics`. */
export function addTrailMetrics(registry: Registry, figures: TrailFigures): void {
  const registers = [registry]
  new Counter({
    name: 'tidegate_events_total',
    help: 'Events by what became of them.',
    labelNames: ['result'],
    registers,
    collect() {
      const { kept, repeated, refused, failed } = figures.intake()
      this.reset()
      for (const [result, count] of Object.entries({ kept, repeated, refused, failed })) {
        this.inc({ result }, count)
      }
    },
  })
  gauge(
    'tidegate_events_waiting_bytes',
    'Bodies of events that wait to be written.',
    () => figures.intake().waitingBytes,
  )
  gauge(
    'tidegate_audit_records_unindexed',
    'Audit records that free text does not find yet.',
    figures.unindexed,
  )
  addDecisionCounter(registers, figures.decisions)
  new Counter({
    name: 'tidegate_reconciliations_total',
    help: 'Reconciliations of the registry by result.',
    labelNames: ['result'],
    registers,
    collect() {
      const { done, failed } = figures.reconciliations()
      this.reset()
      this.inc({ result: 'success' }, done)
      this.inc({ result: 'failure' }, failed)
    },
  })
  gauge(
    'tidegate_reconciliation_duration_seconds',
    'Time that the last reconciliation took.',
    () => (figures.reconciliations().last?.durationMs ?? 0) / MS_PER_SECOND,
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

function addDecisionCounter(registers: Registry[], read: () => DecisionTrailMetrics): void {
  new Counter({
    name: 'tidegate_audit_decisions_total',
    help: 'Decisions that belong into the audit trail: recorded there, or why not. Of log_failed it is not known whether they belong there.',
    labelNames: ['result'],
    registers,
    collect() {
      const { recorded, omitted } = read()
      this.reset()
      for (const [result, count] of Object.entries({ recorded, ...omitted })) this.inc({ result }, count)
    },
  })
}
