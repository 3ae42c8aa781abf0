import { ascending, group, quantileSorted } from 'd3-array'

import type { PipelineRun } from './pipeline-run.js'

/** Which time is looked at: from `from` (included) to `to` (excluded), in milliseconds since 1970. */
export interface FigureWindow {
  readonly from: number
  readonly to: number
}

/** How long something takes: the middle and the slow end of all cases, in milliseconds. */
export interface Durations {
  readonly count: number
  readonly medianMs: number
  readonly p90Ms: number
}

/** The four figures, as docs/reference/delivery-metrics.md defines them. */
export interface DeliveryFigures {
  readonly deployments: number
  readonly failedDeployments: number
  readonly deploymentsPerDay: number
  /** Of 1; null without any deployment, as the figures below without any case. */
  readonly changeFailureRate: number | null
  readonly leadTime: Durations | null
  readonly timeToRestore: Durations | null
  /** Pipelines that stood broken at the end of the window. */
  readonly unrestored: number
}

/** The figures of one application. */
export interface ApplicationFigures extends DeliveryFigures {
  readonly application: string
}

/** The figures of all applications, and of all of them together. */
export interface DeliveryReport {
  readonly total: DeliveryFigures
  /** By name. */
  readonly applications: readonly ApplicationFigures[]
}

/** What is counted: runs that deployed something, or all runs. */
export type CountedRuns = 'deploying' | 'all'

interface Outage {
  readonly brokenAt: number
  /** Undefined while it lasts. */
  readonly restoredAt: number | undefined
}

const DAY_MS = 86_400_000

/**
 * Deployment frequency, lead time, change failure rate and time to restore. `runs` may come in any order and hold repeats; those
 * before the window tell which pipelines were broken when it began, and those after it count for nothing.
 */
export function deliveryFigures(
  runs: readonly PipelineRun[],
  window: FigureWindow,
  counted: CountedRuns = 'deploying',
): DeliveryReport {
  const relevant = lastOfEach(runs)
    .filter(({ outcome, deploys, endedAt }) => isCounted(outcome, deploys, counted) && endedAt < window.to)
    .sort((a, b) => a.endedAt - b.endedAt)
  const applications = [...group(relevant, ({ application }) => application)]
    .map(([application, own]) => ({ application, ...figuresOf(own, window) }))
    .filter(hasFigures)
    .sort((a, b) => ascending(a.application, b.application))
  return { total: figuresOf(relevant, window), applications }
}

/** A run that was started again ends twice: its last end counts. */
function lastOfEach(runs: readonly PipelineRun[]): PipelineRun[] {
  const last = new Map<string, PipelineRun>()
  for (const run of runs) {
    const known = last.get(run.executionId)
    if (known === undefined || known.endedAt <= run.endedAt) last.set(run.executionId, run)
  }
  return [...last.values()]
}

/** Who cancels a run says nothing of the change. */
function isCounted(outcome: PipelineRun['outcome'], deploys: boolean, counted: CountedRuns): boolean {
  return outcome !== 'canceled' && (deploys || counted === 'all')
}

/** Of runs in the order of their ends. */
function figuresOf(runs: readonly PipelineRun[], { from, to }: FigureWindow): DeliveryFigures {
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

/** From the first failure to the next success of a pipeline; further failures between them belong to the same outage. */
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

function hasFigures({ deployments, failedDeployments, unrestored }: DeliveryFigures): boolean {
  return deployments + failedDeployments + unrestored > 0
}
