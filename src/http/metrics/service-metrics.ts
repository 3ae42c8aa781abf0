import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

import type { DecisionLog } from '../../decisions/decision-log.js'
import type { Exchange } from '../exchange/exchange.js'
import { Exemplars } from './exemplars.js'
import type { ShippingFigures } from '../../store/ports/decision-shipping.js'

const MS_PER_SECOND = 1000
/** OPA's buckets for `http_request_duration_seconds`, so that dashboards made for OPA work unchanged. */
const BUCKETS: readonly number[] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.01, 0.1, 1]

type AnsweredExchange = Pick<Exchange, 'startedAt' | 'handler' | 'method' | 'status'>

/** The metrics of `/metrics`. */
export interface ServiceMetrics {
  readonly registry: Registry
  readonly exemplars: Exemplars
  readonly requested: (exchange: AnsweredExchange) => void
  readonly evaluated: (kind: string, outcome: string) => void
  readonly policiesLoaded: (durationMs: number) => void
  /** `limit` is the one that the compiler exceeded; undefined where the load failed for another reason. */
  readonly policyLoadFailed: (limit?: string) => void
  readonly messageAttempted: (topic: string, progress: { readonly state: string }) => void
}

/** Builds a registry of its own, so that two services in one process do not mix their figures. */
export function makeServiceMetrics(): ServiceMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its answer, by route and status.',
    labelNames: ['code', 'handler', 'method'],
    buckets: [...BUCKETS],
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
  const compilerStops = new Counter({
    name: 'tidegate_compiler_stopped_total',
    help: 'Loads of policies that failed because the compiler exceeded a limit of policies.compiler, by limit.',
    labelNames: ['limit'],
    registers,
  })
  const messages = new Counter({
    name: 'tidegate_outbox_attempts_total',
    help: 'Attempts to send a message, by topic and the state that each left it in.',
    labelNames: ['topic', 'state'],
    registers,
  })
  return {
    registry,
    exemplars: new Exemplars(),
    requested: ({ startedAt, handler, method, status }) => {
      const seconds = (performance.now() - startedAt) / MS_PER_SECOND
      durations.observe({ code: status, handler, method: method.toLowerCase() }, seconds)
    },
    evaluated: (kind, outcome) => evaluations.inc({ kind, outcome }),
    policiesLoaded: (durationMs) => {
      loads.inc({ result: 'success' })
      loadDuration.set(durationMs / MS_PER_SECOND)
    },
    policyLoadFailed: (limit) => {
      loads.inc({ result: 'failure' })
      if (limit !== undefined) compilerStops.inc({ limit })
    },
    messageAttempted: (topic, { state }) => messages.inc({ topic, state }),
  }
}

/** Shows how the decision log of this process goes. */
export function addDecisionLogMetrics(registry: Registry, decisionLog: DecisionLog): void {
  const registers = [registry]
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
    help: 'Decisions that the log could not keep, by reason; for mask_failed inputs, for detail_gave_way inputs and results alone.',
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

/** Where the figures of what went wrong inside come from. */
export interface ConditionSources {
  /** How often each thread has died. */
  readonly threadDeaths: () => ReadonlyMap<string, number>
  /** How often another `decisions.db` was begun. */
  readonly decisionLogsRenewed: () => number
  /** How long the load of policies under way has taken, in milliseconds; 0 where there is none. */
  readonly policiesLoadingMs: () => number
  /** Absent where no log is shared. */
  readonly shipping?: (() => ShippingFigures) | undefined
}

/** Adds to `/metrics` what was lost and begun again. */
export function addConditionMetrics(registry: Registry, sources: ConditionSources): void {
  const registers = [registry]
  new Counter({
    name: 'tidegate_thread_deaths_total',
    help: 'How many times a thread ended by itself and was started again.',
    labelNames: ['thread'],
    registers,
    collect() {
      this.reset()
      for (const [thread, count] of sources.threadDeaths()) this.inc({ thread }, count)
    },
  })
  new Counter({
    name: 'tidegate_decision_log_renewed_total',
    help: 'How many times another decisions.db was begun in place of a damaged or lost one.',
    registers,
    collect() {
      this.reset()
      this.inc(sources.decisionLogsRenewed())
    },
  })
  new Gauge({
    name: 'tidegate_policy_loading_seconds',
    help: 'How long the load of policies under way has taken; 0 where there is none.',
    registers,
    collect() {
      this.set(sources.policiesLoadingMs() / MS_PER_SECOND)
    },
  })
  if (sources.shipping !== undefined) addShippingMetrics(registers, sources.shipping)
}

function addShippingMetrics(registers: Registry[], figures: () => ShippingFigures): void {
  new Counter({
    name: 'tidegate_decisions_shipped_total',
    help: 'Decisions that were taken to the log that all services share.',
    registers,
    collect() {
      this.reset()
      this.inc(figures().shipped)
    },
  })
  new Gauge({
    name: 'tidegate_decisions_unshipped',
    help: 'Decisions of the local file that are not in the shared log yet.',
    registers,
    collect() {
      this.set(figures().waiting)
    },
  })
  new Gauge({
    name: 'tidegate_decisions_never_shipped',
    help: 'Decisions that the bounds of the local file took before they were shipped, since that file was begun.',
    registers,
    collect() {
      this.set(figures().missing)
    },
  })
}
