import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

import type { DecisionLog } from '../../decisions/decision-log.js'
import type { Exchange } from '../exchange/exchange.js'
import { Exemplars } from './exemplars.js'
import { ScrapedMetrics } from './scraped-metrics.js'
import type { ShippingMetrics } from '../../store/ports/decision-shipping.js'

const MS_PER_SECOND = 1000
/** OPA's buckets for `http_request_duration_seconds`, so that dashboards for OPA work unchanged. */
const BUCKETS: readonly number[] = [1e-6, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 0.001, 0.01, 0.1, 1]

type AnsweredExchange = Pick<Exchange, 'startedAt' | 'handler' | 'method' | 'status'>

/** The metrics of `/metrics`. */
export interface ServiceMetrics {
  readonly registry: Registry
  readonly exemplars: Exemplars
  readonly requested: (exchange: AnsweredExchange) => void
  readonly evaluated: (kind: string, outcome: string) => void
  readonly warned: (warnings: readonly { readonly packageName: string; readonly kind: string }[]) => void
  readonly policiesLoaded: (durationMs: number) => void
  /** `limit` is the compiler limit that was exceeded; undefined for other failures. */
  readonly policyLoadFailed: (limit?: string) => void
  readonly messageAttempted: (topic: string, progress: { readonly state: string }) => void
}

/**
 * Creates the metrics in their own registry, so that two services in one process do not share them.
 */
export function makeServiceMetrics(): ServiceMetrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to the end of its response, by route and status.',
    labelNames: ['code', 'handler', 'method'],
    buckets: [...BUCKETS],
    registers,
  })
  const evaluations = new Counter({
    name: 'tidegate_evaluations_total',
    help: 'Policy decisions by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const loads = new Counter({
    name: 'tidegate_policy_loads_total',
    help: 'Policy loads by result.',
    labelNames: ['result'],
    registers,
  })
  const loadDuration = new Gauge({
    name: 'tidegate_policy_load_duration_seconds',
    help: 'Duration of the last successful policy load.',
    registers,
  })
  const compilerStops = new Counter({
    name: 'tidegate_compiler_stopped_total',
    help: 'Policy loads that exceeded a limit of policies.compiler, by limit.',
    labelNames: ['limit'],
    registers,
  })
  const messages = new Counter({
    name: 'tidegate_outbox_attempts_total',
    help: 'Attempts to send a message, by topic and resulting state.',
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
    warned: countWarnings(registry),
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

function countWarnings(registry: Registry): ServiceMetrics['warned'] {
  const warnings = new Counter({
    name: 'tidegate_policy_warnings_total',
    help: 'Reasons of decisions that did not deny, by package and kind: rule, level, exception or error.',
    labelNames: ['package', 'kind'],
    registers: [registry],
  })
  return (found) => {
    for (const { packageName, kind } of found) warnings.inc({ package: packageName, kind })
  }
}

/** Registers the metrics of this process's decision log. */
export function addDecisionLogMetrics(registry: Registry, decisionLog: DecisionLog): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.counter(
    'tidegate_decision_log_written_total',
    'Decisions written to the decision log.',
    () => decisionLog.stats().written,
  )
  metrics.counters(
    'tidegate_decision_log_dropped_total',
    'Decisions that were not logged, by reason. For mask_failed only the input is missing, for detail_gave_way input and result.',
    'reason',
    () => Object.entries(decisionLog.stats().dropped),
  )
  metrics.gauge(
    'tidegate_decision_log_buffered_rows',
    'Decisions buffered in memory.',
    () => decisionLog.stats().bufferedRows,
  )
}

/** Sources of the metrics about internal failures. */
export interface FailureSources {
  /** Unexpected ends by thread. */
  readonly threadDeaths: () => ReadonlyMap<string, number>
  /** How often `decisions.db` was replaced. */
  readonly decisionLogsRenewed: () => number
  /** Duration of the policy load under way in milliseconds; 0 if there is none. */
  readonly policiesLoadingMs: () => number
  /** Absent if the decision log is not shared. */
  readonly shipping?: (() => ShippingMetrics) | undefined
  /** Metrics of `decisions.sinks` by name. */
  readonly sinks: () => ReadonlyMap<string, ShippingMetrics>
}

/** Registers the metrics about internal failures and recoveries. */
export function addFailureMetrics(registry: Registry, sources: FailureSources): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.counters(
    'tidegate_thread_deaths_total',
    'Threads that died and were restarted.',
    'thread',
    sources.threadDeaths,
  )
  metrics.counter(
    'tidegate_decision_log_renewed_total',
    'How often a damaged or lost decisions.db was replaced.',
    sources.decisionLogsRenewed,
  )
  metrics.gauge(
    'tidegate_policy_loading_seconds',
    'Duration of the policy load under way; 0 if there is none.',
    () => sources.policiesLoadingMs() / MS_PER_SECOND,
  )
  if (sources.sinks().size > 0) addSinkMetrics(metrics, sources.sinks)
  const { shipping } = sources
  if (shipping === undefined) return
  metrics.counter(
    'tidegate_decisions_shipped_total',
    'Decisions copied to the shared log.',
    () => shipping().shipped,
  )
  metrics.gauge(
    'tidegate_decisions_unshipped',
    'Local decisions that are not in the shared log yet.',
    () => shipping().waiting,
  )
  metrics.gauge(
    'tidegate_decisions_never_shipped',
    'Decisions deleted by the limits of the local file before they were copied to the shared log.',
    () => shipping().missing,
  )
}

function addSinkMetrics(metrics: ScrapedMetrics, sinks: FailureSources['sinks']): void {
  const bySink = (name: 'waiting' | 'missing') => () =>
    [...sinks()].map(([sink, values]) => [[sink], values[name]] as const)
  metrics.counters('tidegate_decision_sink_sent_total', 'Decisions sent to a sink.', 'sink', () =>
    [...sinks()].map(([sink, { shipped }]) => [sink, shipped] as const),
  )
  metrics.counters(
    'tidegate_decision_sink_dropped_total',
    'Decisions that data.system.log.drop kept from a sink.',
    'sink',
    () => [...sinks()].map(([sink, { dropped = 0 }]) => [sink, dropped] as const),
  )
  metrics.counters(
    'tidegate_decision_sink_mask_failed_total',
    'Decisions that were sent to a sink without detail, because data.system.log.mask or drop failed.',
    'sink',
    () => [...sinks()].map(([sink, { maskFailed = 0 }]) => [sink, maskFailed] as const),
  )
  metrics.gauges(
    'tidegate_decision_sink_waiting',
    'Stored decisions that a sink does not have yet.',
    ['sink'],
    bySink('waiting'),
  )
  metrics.gauges(
    'tidegate_decision_sink_missing',
    'Decisions that a sink will never have: deleted by the limits of the local file, or refused.',
    ['sink'],
    bySink('missing'),
  )
}

/** Numbers of exceptions that have not ended. */
export interface ExceptionCounts {
  readonly active: number
  /** Those that wait for approval. */
  readonly pending: number
  /** Active ones that end within `policies.exceptions.noticeDays`. */
  readonly expiring: number
}

/** Registers the metrics about exceptions. */
export function addExceptionMetrics(registry: Registry, counts: () => ExceptionCounts): void {
  const metrics = new ScrapedMetrics(registry)
  metrics.gauge('tidegate_exceptions_active', 'Exceptions in effect.', () => counts().active)
  metrics.gauge('tidegate_exceptions_pending', 'Exceptions that wait for approval.', () => counts().pending)
  metrics.gauge(
    'tidegate_exceptions_expiring',
    'Exceptions in effect that end within policies.exceptions.noticeDays.',
    () => counts().expiring,
  )
}
