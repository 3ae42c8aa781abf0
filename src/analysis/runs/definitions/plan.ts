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
  /** In the language of the source, with `${name}` for values of the scope. */
  readonly query: string
  /**
   * The query for the exposure of its events, unless `spec.exposure` names another metric for it.
   */
  readonly exposureQuery?: string | undefined
  /** The aggregate of several series, if the definition has none for all metrics. */
  readonly aggregate?: SeriesAggregate | undefined
}

export interface PlannedMetrics extends PlannedSides {
  readonly source: string
  readonly aggregate: SeriesAggregate | undefined
  readonly metrics: readonly PlannedMetric[]
  /** Further baselines: how many, and by how many milliseconds each is earlier than the one before. */
  readonly earlier?: { readonly times: number; readonly offsetMs: number } | undefined
  readonly groupWeights: Readonly<Record<string, number>>
  /** Sentences about unread members of the canary config. */
  readonly warnings?: readonly string[] | undefined
}

export interface PlannedLogs extends PlannedSides {
  readonly source: string
  readonly query: string
  readonly index: string | undefined
  readonly template: LogTemplate
  readonly maxLines: number | undefined
}

/** How the compared instances of both sides are chosen. */
export interface PlannedInstances {
  readonly source: string
  /** Its series are the instances of a side, by its scope. Their values are the times of their starts. */
  readonly query: string
  /** The label that names an instance, and the name of the scope value with the chosen ones. */
  readonly label: string
  /** Instances of the baseline; as many as of the canary by default. */
  readonly size?: number | undefined
  readonly choose: 'newest' | 'oldest'
}

/** A rule that evaluates the documents of both sides. */
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
  /** Sentences about requested parts that are not judged. */
  readonly notJudged?: readonly string[]
}

/** The times of the intervals of a run and their windows, in milliseconds. */
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

/**
 * Everything that a run needs from its registration to its last interval. Later changes of a
 * definition do not affect it.
 */
export interface RunPlan {
  readonly application: string
  readonly owner: string
  readonly judge: 'default' | 'kayenta'
  readonly timing: Timing
  readonly thresholds: ScoreThresholds
  readonly instances?: PlannedInstances | undefined
  readonly targets: readonly PlannedTarget[]
}

/**
 * Sentences about requested parts that are not judged and about unread members of canary configs,
 * each once.
 */
export function warningsOf({ targets }: Pick<RunPlan, 'targets'>): readonly string[] {
  const sentences = targets.flatMap(({ metrics, notJudged = [] }) => [
    ...notJudged,
    ...(metrics?.warnings ?? []),
  ])
  return [...new Set(sentences)]
}
