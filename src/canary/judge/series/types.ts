import type { PlannedInterval } from '../../statistics/alpha-spending.js'

/** Which change of a metric is harm. */
export type Direction = 'increase' | 'decrease' | 'either'

/** The replacement of a gap: none, or 0. */
export type NanStrategy = 'remove' | 'replace'

/**
 * The result of a metric. `NodataFailMetric` comes from the Kayenta judge, `Inconclusive` from the
 * default one.
 */
export type Classification =
  'Pass' | 'High' | 'Low' | 'Inconclusive' | 'Nodata' | 'NodataFailMetric' | 'Error'

/** Why nothing, or too little, is known of a metric. */
export type NoDataState =
  | 'sourceError'
  | 'outOfRange'
  | 'empty'
  | 'oneSideEmpty'
  | 'tooFewPoints'
  | 'noTraffic'
  | 'undecided'
  | 'doubtful'

/**
 * The consequence of a state without data for the run: it fails the metric, needs a review, or
 * leaves the metric out.
 */
export type NoDataPolicy = 'fail' | 'review' | 'ignore'

/** The kind of the values: detected, measurements, or whole numbers of events. */
export type MetricKind = 'auto' | 'gauge' | 'count'

/**
 * Kayenta's measure of an effect, and the limits from which it counts. Shares for `meanRatio`,
 * probabilities for `cles`.
 */
export interface EffectSize {
  readonly measure: 'meanRatio' | 'cles'
  readonly allowedIncrease: number
  readonly allowedDecrease: number
  readonly criticalIncrease: number
  readonly criticalDecrease: number
}

/**
 * Limits that the canary must keep whatever its baseline does, each for one statistic of its
 * values.
 */
export interface Limits {
  readonly figure: 'mean' | 'median' | 'p95' | 'p99' | 'max'
  readonly max?: number | undefined
  readonly min?: number | undefined
}

/** One metric as configured. */
export interface MetricSpec {
  readonly name: string
  /** A metric counts in each of its groups; without one it is in a group named "". */
  readonly groups: readonly string[]
  readonly direction: Direction
  readonly nanStrategy: NanStrategy
  readonly critical: boolean
  readonly mustHaveData: boolean
  /** Judged and listed, but left out of all scores. */
  readonly muted: boolean
  readonly outliers: { readonly strategy: 'keep' | 'remove'; readonly factor: number }
  readonly effectSize: EffectSize
  /**
   * Default judge: the change that does not matter, as a share of the baseline. The run's margin if
   * absent.
   */
  readonly margin?: number | undefined
  readonly kind: MetricKind
  readonly limits?: Limits | undefined
  /** The name of the metric with the exposure of this one. */
  readonly exposure?: string | undefined
  /**
   * The upper bound of the values, if the distance from it is compared. False to compare the values
   * as they are.
   */
  readonly upperBound?: number | false | undefined
  readonly noData: Partial<Record<NoDataState, NoDataPolicy>>
}

/** The points of one side in order of time, NaN for a gap. */
export interface Side {
  readonly values: Float64Array
  /** One series for each unit (pod), if the side has several. `values` is made of them. */
  readonly units?: readonly Float64Array[] | undefined
  /** Whether `units` are the same window of several earlier times, not pods. */
  readonly areTimes?: true | undefined
  /** For counts: what each value is a count out of (requests), point by point. */
  readonly exposure?: Float64Array | undefined
  /** The error message of a source that did not answer. */
  readonly error?: string | undefined
  /** Why its values cannot be computed with, such as values that are too large. */
  readonly outOfRange?: string | undefined
  readonly startMs?: number | undefined
  readonly stepMs?: number | undefined
}

/** A metric with its points on both sides. */
export interface MetricSeries {
  readonly spec: MetricSpec
  readonly control: Side
  readonly experiment: Side
  /**
   * The number of points in one window of its query, such as `rate(x[5m])` at steps of a minute.
   * Detected from the values if not known.
   */
  readonly overlap?: number | undefined
  /** The usual distance between both sides in former runs, if known. */
  readonly usualSpread?: UsualSpread | undefined
}

/** How far the sides of former runs of a service lay apart in a metric. */
export interface UsualSpread {
  /** Number of runs. */
  readonly runs: number
  /** The standard deviation of their relative changes, as a share of the baseline. */
  readonly deviation: number
}

/** From which score on a run is a success, and from which on a review. */
export interface ScoreThresholds {
  readonly pass: number
  readonly marginal: number
}

/** Everything a judge needs. */
export interface JudgeInput {
  readonly metrics: readonly MetricSeries[]
  readonly groupWeights: Readonly<Record<string, number>>
  readonly thresholds: ScoreThresholds
}

/** Statistics of one side's points. `std` divides by n - 1. All are 0 without points. */
export interface SeriesStats {
  readonly min: number
  readonly max: number
  readonly mean: number
  readonly std: number
  readonly count: number
}

/** One of the tests of a metric. */
export interface TestOutcome {
  readonly test: 'shift' | 'mean' | 'tail' | 'spread' | 'occurrence' | 'rate' | 'size' | 'gap' | 'stretch'
  readonly change: 'High' | 'Low'
  /** The p-value divided by the test's share of alpha. The metric's p is the smallest one. */
  readonly p: number
  /** Whether the change is large enough to matter. */
  readonly matters: boolean
  /**
   * For a stretch: its chance in a metric without any change. If it is small, the stretch needs a
   * review, proven or not.
   */
  readonly pAlone?: number | undefined
  /** For a stretch that would matter if it were not at the start, where it is at most noted. */
  readonly isWarmUp?: true | undefined
  /** The least size of the change, as a share of the level. Null if the level is 0. */
  readonly size: number | null
  /** For a stretch: its first point in the series, counted from 0, and the point after its last. */
  readonly stretch?: { readonly from: number; readonly to: number } | undefined
  readonly says: string
}

/** The findings of the default judge about a metric. */
export interface Finding {
  readonly kind: 'gauge' | 'zeroInflated' | 'count'
  readonly method: 'independent' | 'paired' | 'poisson' | 'overdispersed' | 'occurrence'
  /**
   * Hodges-Lehmann shift in the metric's unit. For counts the difference of rates; by occurrence
   * the difference of the shares of points that are not 0.
   */
  readonly estimate: number
  readonly confidenceInterval: readonly [number, number]
  /**
   * The bound that the values cannot exceed. Estimate, confidence interval, level and margin are
   * those of the distance from it.
   */
  readonly distanceFrom?: number | undefined
  /**
   * The number of points in one window of the values, of which one was judged. Absent if windows do
   * not overlap.
   */
  readonly overlap?: number | undefined
  /** The level of the baseline that shares refer to. */
  readonly level: number
  /** Estimate and confidence interval as shares of `level`. Null if the level is 0. */
  readonly relative: { readonly estimate: number; readonly interval: readonly [number, number] } | null
  readonly margin: number
  readonly cliffsDelta: number
  /** The error that this metric's tests may make together at this interval. */
  readonly alpha: number
  /** The least of the tests' p-values, each for its share of the error. */
  readonly p: number
  /**
   * Adjusted over the metrics of the run: critical ones by Holm, others by Benjamini and Hochberg.
   */
  readonly pAdjusted: number
  /**
   * The number of compared units (pods) on each side, or of former runs, and their usual distance
   * in the metric's unit. Absent without them.
   */
  readonly units?:
    | {
        readonly control: number
        readonly experiment: number
        readonly deviation: number
        readonly areTimes?: true | undefined
      }
    | { readonly runs: number; readonly deviation: number }
    | undefined
  /** The effective number of independent points on each side. */
  readonly effectiveN: { readonly control: number; readonly experiment: number }
  readonly autocorrelation: number
  /**
   * The least change, as a share of the level, that is found in 8 of 10 runs. Null if the level is
   * 0.
   */
  readonly detectable: number | null
  readonly tests: readonly TestOutcome[]
}

/** One metric as judged. */
export interface MetricResult {
  readonly name: string
  readonly groups: readonly string[]
  readonly classification: Classification
  readonly classificationReason: string
  /** Whether this result fails the run. */
  readonly critical: boolean
  /** Whether its configuration makes it critical. */
  readonly isCriticalMetric?: true | undefined
  readonly muted: boolean
  /** 0 to 100; null when the metric does not count. */
  readonly score: number | null
  readonly noData: { readonly state: NoDataState; readonly policy: NoDataPolicy } | null
  readonly controlStats: SeriesStats
  readonly experimentStats: SeriesStats
  /** Mean of the experiment divided by the mean of the control. Null if it has no value. */
  readonly ratio: number | null
  /**
   * The total exposure of its events on each side, and the metric that provides it if that is
   * another one.
   */
  readonly exposure?:
    | { readonly metric?: string | undefined; readonly control: number; readonly experiment: number }
    | undefined
  readonly finding: Finding | null
  /**
   * A change far beyond its margin that is significant even after the correction over all metrics.
   * It needs a review, whatever its weight.
   */
  readonly isBeyondDoubt?: boolean | undefined
  /**
   * Notes on a metric that passes, one sentence each. They do not affect the verdict. Absent if
   * there are none.
   */
  readonly notes?: readonly string[] | undefined
}

export interface GroupScore {
  readonly name: string
  readonly score: number
  readonly classification: '' | 'Nodata'
  readonly classificationReason: string
}

export type RunClassification = 'Success' | 'Review' | 'Fail' | 'Pass' | 'Marginal'

/** A run as judged. */
export interface JudgeReport {
  readonly judgeName: 'tidegate-v1' | 'NetflixACAJudge-v1.0'
  readonly score: {
    readonly score: number
    readonly classification: RunClassification
    readonly classificationReason: string
    /** Why the score says nothing and is not shown, if it does not. */
    readonly unscored?: 'nothing judged' | 'critical, not judged' | undefined
  }
  readonly verdict: 'Success' | 'Review' | 'Fail'
  /**
   * Whether a critical metric is so clearly worse that later intervals cannot change the verdict.
   */
  readonly endsRun: boolean
  readonly groupScores: readonly GroupScore[]
  readonly results: readonly MetricResult[]
}

/** Options of a judge. Each judge has its own defaults. */
export interface JudgeOptions {
  readonly judge: 'default' | 'kayenta'
  readonly tolerance?: number | undefined
  readonly confidence?: number | undefined
  /** The planned interval that is judged: the error is spent over all of them. */
  readonly interval?: PlannedInterval | undefined
  /** Called after each metric, for progress. */
  readonly onMetric?: ((judged: number, of: number) => void) | undefined
}
