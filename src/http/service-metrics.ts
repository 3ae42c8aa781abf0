import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

import type { DecisionLog } from '../decisions/decision-log.js'
import type { Exchange } from './exchange.js'

/** OPA's buckets for `http_request_duration_seconds`, so that dashboards made for it go on working. */
const DURATION_BUCKETS = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.01, 0.1, 1]
const MS_PER_SECOND = 1000

/** The figures that `/metrics` shows. */
export interface ServiceMetrics {
  readonly registry: Registry
  readonly requested: (exchange: Exchange) => void
  readonly evaluated: (kind: string, outcome: string) => void
  readonly policiesLoaded: (durationMs: number) => void
  readonly policyLoadFailed: () => void
}

/** Builds a registry of its own, so that two services in one process do not mix their figures. */
export function makeServiceMetrics(decisionLog: DecisionLog): ServiceMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer, by route and status.',
    labelNames: ['code', 'handler', 'method'],
    buckets: DURATION_BUCKETS,
    registers,
  })
  const evaluations = new Counter({
    name: 'tidegate_evaluations_total',
    help: 'Policy decisions by kind of operation and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const loads = new Counter({
    name: 'tidegate_policy_loads_total',
    help: 'Loads of policies by result.',
    labelNames: ['result'],
    registers,
  })
  const loadDuration = new Gauge({
    name: 'tidegate_policy_load_duration_seconds',
    help: 'Time that the last successful load of policies took.',
    registers,
  })
  addDecisionLogMetrics(decisionLog, registers)
  const durationOf = memoizeChildren((code, handler, method) => durations.labels({ code, handler, method }))
  const evaluationOf = memoizeChildren((kind, outcome) => evaluations.labels({ kind, outcome }))
  return {
    registry,
    requested: (exchange) => {
      const seconds = (performance.now() - exchange.startedAt) / MS_PER_SECOND
      const code = String(exchange.response.statusCode)
      durationOf(code, exchange.handler, exchange.method.toLowerCase()).observe(seconds)
    },
    evaluated: (kind, outcome) => evaluationOf(kind, outcome, '').inc(),
    policiesLoaded: (durationMs) => {
      loads.inc({ result: 'success' })
      loadDuration.set(durationMs / MS_PER_SECOND)
    },
    policyLoadFailed: () => loads.inc({ result: 'failure' }),
  }
}

/** Looking a label set up in the registry costs more than the figure itself; there are only a few of them. */
function memoizeChildren<T>(
  make: (a: string, b: string, c: string) => T,
): (a: string, b: string, c: string) => T {
  const children = new Map<string, T>()
  return (a, b, c) => {
    const key = `${a} ${b} ${c}`
    const child = children.get(key) ?? make(a, b, c)
    children.set(key, child)
    return child
  }
}

function addDecisionLogMetrics(decisionLog: DecisionLog, registers: Registry[]): void {
  new Counter({
    name: 'tidegate_decision_log_written_total',
    help: 'Decisions written to the decision log.',
    registers,
    collect() {
      this.reset()
      this.inc(decisionLog.stats().written)
    },
  })
  new Counter({
    name: 'tidegate_decision_log_dropped_total',
    help: 'Decisions (for mask_failed: inputs of decisions) that the log could not keep, by reason.',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of Object.entries(decisionLog.stats().dropped)) this.inc({ reason }, count)
    },
  })
  new Gauge({
    name: 'tidegate_decision_log_buffered_rows',
    help: 'Decisions that wait in memory to be written.',
    registers,
    collect() {
      this.set(decisionLog.stats().bufferedRows)
    },
  })
}
