import type { LogTemplate, MetricSpec, ScoreThresholds } from '../../../canary/index.js'
import type { Scope, SeriesAggregate } from '../../sources.js'

/** One side of a target: which instances, and since when, in milliseconds since the epoch. */
export interface PlannedSide {
  readonly scope: Scope
  readonly startMs: number
}

/** Both sides of a target. */
export interface PlannedSides {
  readonly baseline: PlannedSide
  readonly canary: PlannedSide
}

/** A metric with the query that fetches it. */
export interface PlannedMetric {
  readonly spec: MetricSpec
  /** In the language of the source, with `${name}` where the scope goes. */
  readonly query: string
  /** Fetches what its events are counted out of, where `spec.exposure` does not name another metric for that. */
  readonly exposureQuery?: string | undefined
  /** How several series of one answer are joined, where the definition does not say it for all. */
  readonly aggregate?: SeriesAggregate | undefined
}

export interface PlannedMetrics extends PlannedSides {
  readonly source: string
  readonly aggregate: SeriesAggregate | undefined
  readonly metrics: readonly PlannedMetric[]
  readonly groupWeights: Readonly<Record<string, number>>
  /** What of the canary config nobody reads, a sentence each. */
  readonly warnings?: readonly string[] | undefined
}

export interface PlannedLogs extends PlannedSides {
  readonly source: string
  readonly query: string
  readonly index: string | undefined
  readonly template: LogTemplate
  readonly maxLines: number | undefined
}

/** A rule that is asked about the documents of both sides. */
export interface PlannedCheck {
  readonly name: string
  /** The name of a web source. */
  readonly source: string
  readonly query: string
  /** The path of the rule: `shop/budget/kept`. */
  readonly rule: string
}

export interface PlannedChecks extends PlannedSides {
  readonly checks: readonly PlannedCheck[]
}

/** One service that is analysed. */
export interface PlannedTarget {
  readonly name: string
  readonly metrics: PlannedMetrics | undefined
  readonly logs: PlannedLogs | undefined
  readonly checks?: PlannedChecks | undefined
  /** What was asked for and is not judged, a sentence each. */
  readonly notJudged?: readonly string[]
}

/** When the intervals of a run are, and what they see. All in milliseconds. */
export interface Timing {
  /** When the data of the later side start; when the run was registered, at the latest. */
  readonly startedMs: number
  readonly lifetimeMs: number
  readonly intervalMs: number
  readonly warmUpMs: number
  /** How long data takes to arrive at the source. */
  readonly delayMs: number
  /** The length of a sliding window; undefined for a window that grows from the start. */
  readonly lookBackMs: number | undefined
  readonly stepMs: number
}

/** All that a run needs from its registration to its last interval, so that a later change of a definition does not touch it. */
export interface RunPlan {
  readonly application: string
  readonly owner: string
  readonly judge: 'default' | 'kayenta'
  readonly timing: Timing
  readonly thresholds: ScoreThresholds
  readonly targets: readonly PlannedTarget[]
}

/** What was asked for and is not judged, and what of the canary configs nobody reads, each sentence once. */
export function warningsOf({ targets }: Pick<RunPlan, 'targets'>): readonly string[] {
  const told = targets.flatMap(({ metrics, notJudged = [] }) => [...notJudged, ...(metrics?.warnings ?? [])])
  return [...new Set(told)]
}
