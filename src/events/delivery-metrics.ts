import { ascending, group, quantileSorted } from 'd3-array'

import type { PipelineRun } from './pipeline-run.js'

/** Time window in epoch milliseconds. `to` is exclusive. */
export interface MetricsWindow {
  readonly from: number
  readonly to: number
}

/** Distribution of durations, in milliseconds. */
export interface Durations {
  readonly count: number
  readonly medianMs: number
  readonly p90Ms: number
}

/** The four delivery metrics of docs/reference/delivery-metrics.md. */
export interface DeliveryMetrics {
  readonly deployments: number
  readonly failedDeployments: number
  readonly deploymentsPerDay: number
  /** Between 0 and 1; null without deployments. The metrics below are null without any case. */
  readonly changeFailureRate: number | null
  readonly leadTime: Durations | null
  readonly timeToRestore: Durations | null
  /** Number of pipelines that were broken at the end of the window. */
  readonly unrestored: number
}

/** Metrics of one application. */
export interface ApplicationMetrics extends DeliveryMetrics {
  readonly application: string
}

/** Metrics of all applications, and their total. */
export interface DeliveryReport {
  readonly total: DeliveryMetrics
  /** Ordered by name. */
  readonly applications: readonly ApplicationMetrics[]
}

/** Whether only deploying runs are counted. */
export type CountedRuns = 'deploying' | 'all'

interface Outage {
  readonly brokenAt: number
  /** Undefined until it is restored. */
  readonly restoredAt: number | undefined
}

const DAY_MS = 86_400_000

/**
 * Computes deployment frequency, lead time, change failure rate and time to restore. `runs` may be
 * in any order and contain repeats. Runs before the window show which pipelines were broken at its
 * start; runs after it are ignored.
 */
export function deliveryMetrics(
  runs: readonly PipelineRun[],
  window: MetricsWindow,
  counted: CountedRuns = 'deploying',
): DeliveryReport {
  const relevant = lastOfEach(runs)
    .filter(({ outcome, deploys, endedAt }) => isCounted(outcome, deploys, counted) && endedAt < window.to)
    .sort((a, b) => a.endedAt - b.endedAt)
  const applications = [...group(relevant, ({ application }) => application)]
    .map(([application, own]) => ({ application, ...metricsOf(own, window) }))
    .filter(hasMetrics)
    .sort((a, b) => ascending(a.application, b.application))
  return { total: metricsOf(relevant, window), applications }
}

/** A restarted run ends twice: the last end counts. */
function lastOfEach(runs: readonly PipelineRun[]): PipelineRun[] {
  const last = new Map<string, PipelineRun>()
  for (const run of runs) {
    const known = last.get(run.executionId)
    if (known === undefined || known.endedAt <= run.endedAt) last.set(run.executionId, run)
  }
  return [...last.values()]
}

/** A canceled run says nothing about the change. */
function isCounted(outcome: PipelineRun['outcome'], deploys: boolean, counted: CountedRuns): boolean {
  return outcome !== 'canceled' && (deploys || counted === 'all')
}

/** `runs` are in the order of their ends. */
function metricsOf(runs: readonly PipelineRun[], { from, to }: MetricsWindow): DeliveryMetrics {
  const inside = runs.filter(({ endedAt }) => endedAt >= from)
  const succeeded = inside.filter(({ outcome }) => outcome === 'succeeded')
  const failedDeployments = inside.length - succeeded.length
  const outages = [
    ...group(runs, ({ application, pipeline }) => JSON.stringify([application, pipeline])),
  ].flatMap(([, ofOnePipeline]) => outagesIn(ofOnePipeline))
  return {
    deployments: succeeded.length,
    failedDeployments,
    deploymentsPerDay: to > from ? succeeded.length / ((to - from) / DAY_MS) : 0,
    changeFailureRate: inside.length === 0 ? null : failedDeployments / inside.length,
    leadTime: durations(succeeded.map(({ triggeredAt, endedAt }) => endedAt - triggeredAt)),
    timeToRestore: durations(
      outages.flatMap(({ brokenAt, restoredAt }) =>
        restoredAt !== undefined && restoredAt >= from ? [restoredAt - brokenAt] : [],
      ),
    ),
    unrestored: outages.filter(({ restoredAt }) => restoredAt === undefined).length,
  }
}

/** An outage lasts from a pipeline's first failure to its next success. */
function outagesIn(runs: readonly PipelineRun[]): Outage[] {
  const outages: Outage[] = []
  let brokenAt: number | undefined
  for (const { outcome, endedAt } of runs) {
    if (outcome === 'failed') brokenAt ??= endedAt
    else if (brokenAt !== undefined) {
      outages.push({ brokenAt, restoredAt: endedAt })
      brokenAt = undefined
    }
  }
  return brokenAt === undefined ? outages : [...outages, { brokenAt, restoredAt: undefined }]
}

function durations(values: readonly number[]): Durations | null {
  const sorted = [...values].sort(ascending)
  const medianMs = quantileSorted(sorted, 0.5)
  const p90Ms = quantileSorted(sorted, 0.9)
  return medianMs === undefined || p90Ms === undefined ? null : { count: sorted.length, medianMs, p90Ms }
}

function hasMetrics({ deployments, failedDeployments, unrestored }: DeliveryMetrics): boolean {
  return deployments + failedDeployments + unrestored > 0
}
