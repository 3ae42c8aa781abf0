import type { Sequence } from '../lib/packing/packed-list.js'

/** A stretch of time in ms since the epoch; its end is no longer part of it. */
export interface TimeWindow {
  readonly startMs: number
  readonly endMs: number
}

/** The values of the placeholders `${name}` of a query. */
export type Scope = Readonly<Record<string, string>>

/** Separates the instances that a value of a scope names, if it names several. */
export const INSTANCE_SEPARATOR = '\u001e'

/** Limits of a fetch in total, retries included. */
export interface FetchBudget {
  readonly budgetMs: number
  readonly signal?: AbortSignal | undefined
}

/**
 * How several series, or several values within one step, become one. `units` keeps a series for
 * each label, such as pods.
 */
export const SERIES_AGGREGATES = ['sum', 'average', 'min', 'max', 'units'] as const
export type SeriesAggregate = (typeof SERIES_AGGREGATES)[number]

export interface SeriesQuery extends TimeWindow {
  /** A template in the language of the source: PromQL, LogQL, or for files `path.csv#column`. */
  readonly query: string
  readonly scope: Scope
  readonly stepMs: number
  /**
   * Without it an answer with several series is a failure, since no way to join them is always
   * right.
   */
  readonly aggregate?: SeriesAggregate | undefined
}

/**
 * `complete`: all requested data. `empty`: the source answered and has no value (or line) at all.
 * `incomplete`: some data is missing. `failed`: no data.
 */
export type AnswerState = 'complete' | 'empty' | 'incomplete' | 'failed'

interface SourceAnswer {
  readonly state: AnswerState
  /** Reasons why it is incomplete or failed, one sentence each; empty otherwise. */
  readonly reasons: readonly string[]
  /** Remarks of the source, and tolerances that were used in reading it. */
  readonly warnings: readonly string[]
  /**
   * The query as sent, with its placeholders filled, or the template if they could not be filled.
   */
  readonly query: string
}

export interface SeriesAnswer extends SourceAnswer {
  /** The time of the first value: the first multiple of the step in the window. */
  readonly startMs: number
  readonly stepMs: number
  /** One value a step; NaN is a gap. */
  readonly values: Float64Array
  /** A series for each label, if requested; `values` is their mean. */
  readonly units?: readonly Float64Array[] | undefined
  /** Steps at the end of the window that a limit left out of `values`. */
  readonly truncatedPoints: number
  /** How many of the gaps had infinite values, if any. */
  readonly infinitePoints?: number | undefined
}

/** A source of metrics. */
export interface MetricSource {
  /**
   * Fetches one series on the step grid. Never rejects: problems are part of the answer's state.
   */
  readonly fetchSeries: (query: SeriesQuery, budget: FetchBudget) => Promise<SeriesAnswer>
}

/** A field of a line that must have a value of the scope. */
export interface LineFilter {
  readonly field: string
  readonly value: string
  readonly match: 'exact' | 'prefix'
}

export interface LineLimits {
  readonly maxLines: number
  /** Maximum size of all lines together, in bytes of UTF-8. */
  readonly maxBytes: number
}

export interface LinesQuery extends TimeWindow {
  /**
   * A template in the language of the source: LogQL, query_string or query DSL as JSON, a filter
   * pattern, SPL, or a path for files.
   */
  readonly query: string
  readonly scope: Scope
  readonly filters?: readonly LineFilter[] | undefined
  /** The index to query (for CloudWatch Logs the log group); the source's index by default. */
  readonly index?: string | undefined
  /** The field with the text; the source's field by default. */
  readonly messageField?: string | undefined
  /** Narrower than the limits of the source, if given. */
  readonly limits?: Partial<LineLimits> | undefined
}

/**
 * A stored line: milliseconds since the start of its window, null without a time of its own, and
 * its text.
 */
export type LineData = readonly [number | null, string]

export interface LinesAnswer extends SourceAnswer {
  /** In order of time. */
  readonly lines: Sequence<LineData>
  /** Whether a limit ended the reading early. */
  readonly isTruncated: boolean
  /** Number of lines that a limit left out; undefined if the source does not report it. */
  readonly omittedLines: number | undefined
  /** Lines are there from the start of the window up to here: the exposure to compare by. */
  readonly coveredUntilMs: number
}

/** A series for each instance, such as a pod, over a window. */
export interface InstancesQuery extends TimeWindow {
  readonly query: string
  readonly scope: Scope
  readonly stepMs: number
  /** The label that names an instance. */
  readonly label: string
}

/** An instance with the times of its first and last value, and its last value. */
export interface Instance {
  readonly name: string
  readonly firstMs: number
  readonly lastMs: number
  readonly value: number
}

/** The instances of a window, or a sentence that says why they are not known. */
export type InstancesAnswer = { readonly instances: readonly Instance[] } | { readonly problem: string }

/** A source that knows which instances ran. */
export interface InstanceSource {
  /** Never rejects. */
  readonly fetchInstances: (query: InstancesQuery, budget: FetchBudget) => Promise<InstancesAnswer>
}

export interface DocumentQuery extends TimeWindow {
  readonly query: string
  readonly scope: Scope
}

/** A document as JSON value, or a sentence that says why there is none; with the query as sent. */
export type DocumentAnswer = { readonly query: string } & (
  { readonly document: unknown } | { readonly problem: string }
)

/** A source of whole documents, which rules evaluate. */
export interface DocumentSource {
  /** Never rejects. */
  readonly fetchDocument: (query: DocumentQuery, budget: FetchBudget) => Promise<DocumentAnswer>
}

/** A source of log lines. */
export interface LogSource {
  /**
   * Fetches the lines of a window within the limits. Never rejects: problems are part of the
   * answer's state.
   */
  readonly fetchLines: (query: LinesQuery, budget: FetchBudget) => Promise<LinesAnswer>
}
