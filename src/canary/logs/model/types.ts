import type { ScoreThresholds } from '../../judge/series/types.js'
import type { PlannedInterval } from '../../statistics/alpha-spending.js'
import type { Sequence } from '../../../lib/packing/packed-list.js'
import type { Sensitivity } from './log-template.js'
import type { Severity, Topic } from '../topics/default-topics.js'

export interface LogLine {
  /** NaN if the line has no timestamp. */
  readonly atMs: number
  readonly text: string
}

/** The lines of one side, in order of time, and its exposure. */
export interface LogSide {
  readonly lines: Sequence<LogLine>
  /** Start of the window, in milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  /** Requests served in the window, if counted: the best measure of exposure. */
  readonly requests?: number | undefined
  /** Instances that wrote the lines, 1 when not known. */
  readonly instances?: number | undefined
  /** Whether a limit left lines out. */
  readonly isTruncated: boolean
}

/** The input of the judge of logs. */
export interface LogJudgeInput {
  /** Undefined when the canary is judged without one. */
  readonly baseline: LogSide | undefined
  readonly canary: LogSide
  /** Keys of templates that earlier releases logged. Empty means that nothing is known of them. */
  readonly seenTemplates: readonly string[]
  readonly thresholds: ScoreThresholds
}

/** The consequence for the run if a side has no lines. */
export type EmptyLogPolicy = 'fail' | 'review' | 'ignore'

export interface LogJudgeOptions {
  readonly topics: readonly Topic[]
  readonly sensitivity: Sensitivity
  /** Whether a new critical template fails the run, however rare it is. */
  readonly failsOnCritical: boolean
  /** Whether ordinary lines that are new or more frequent cost points too. */
  readonly scoresOrdinaryLines: boolean
  readonly emptyLog: EmptyLogPolicy
  /** The planned interval that is judged: the error is spent over all of them. */
  readonly interval?: PlannedInterval | undefined
}

/** `ordinary` are lines without a topic. */
export type LineSeverity = Severity | 'ordinary'

/** `new`: missing from the baseline. `missing`: missing from the canary. */
export type TemplateChange = 'new' | 'more' | 'same' | 'fewer' | 'missing'

/** The events of one template, topic and logger, on both sides. A stack trace is one event. */
export interface TemplateFinding {
  /** The template's id: templates are numbered as they appear, the baseline's lines first. */
  readonly cluster: number
  readonly key: string
  readonly template: string
  readonly severity: LineSeverity
  /** The string of the topic that gave the severity. */
  readonly topic: string | null
  readonly change: TemplateChange
  /**
   * Whether a single event of it needs a review: critical, and not known from an earlier release.
   */
  readonly asksForReview: boolean
  /** Whether it costs points. */
  readonly isUnexpected: boolean
  /** Whether no earlier release is known to have logged it. */
  readonly isNewEver: boolean
  readonly baselineEvents: number
  readonly canaryEvents: number
  /** Events by exposure, canary divided by baseline. Null if the baseline has none. */
  readonly ratio: number | null
  /** The least ratio that the events are compatible with (95 %, exact). */
  readonly ratioLower: number
  /**
   * The chance of as many events, or more, if both sides are alike. For missing templates, of as
   * few or fewer.
   */
  readonly p: number
  /** Over all templates that were tested (Benjamini and Hochberg). */
  readonly pAdjusted: number
  /** The variance of events per minute relative to independent events; 1 if not larger. */
  readonly dispersion: number
  /** Points of the score. */
  readonly lostPoints: number
  readonly reason: string
  readonly samples: { readonly baseline: readonly string[]; readonly canary: readonly string[] }
}

/** The exposure of both sides. */
export interface LogExposure {
  readonly basis: 'requests' | 'ordinaryLines' | 'time'
  readonly baseline: number
  readonly canary: number
  /**
   * The canary's share of the exposure: the chance that an event is on its side if both are alike.
   */
  readonly canaryShare: number
}

/** `compared`, or why not. */
export type LogState = 'compared' | 'noBaseline' | 'baselineEmpty' | 'canaryEmpty' | 'bothEmpty'

export interface LogSideSummary {
  readonly lines: number
  readonly events: number
  readonly isTruncated: boolean
}

/** The result of the judge of logs, with reasons. */
export interface LogReport {
  readonly state: LogState
  /** 0 to 100. */
  readonly score: number
  readonly verdict: 'Success' | 'Review' | 'Fail'
  readonly reason: string
  /** Whether later intervals cannot change the verdict. */
  readonly endsRun: boolean
  readonly exposure: LogExposure | null
  readonly baseline: LogSideSummary | null
  readonly canary: LogSideSummary
  /** The number of templates, and of events that arrived when the table was full. */
  readonly templates: number
  readonly otherEvents: number
  /**
   * The difference between the mixes of templates, 0 to 1 (Jensen-Shannon divergence in bits).
   * Information only.
   */
  readonly mixDivergence: number | null
  /**
   * Describes a period in which the canary logged nothing and its baseline did. Null if there is
   * none.
   */
  readonly silence: string | null
  /** Findings with a severity, most costly first, up to a limit. */
  readonly findings: readonly TemplateFinding[]
  /** Templates that the canary lacks, surest first. Information only. */
  readonly missing: readonly TemplateFinding[]
  readonly omittedFindings: number
  readonly warnings: readonly string[]
}

/** A report, and by which keys later runs know the templates of this one. */
export interface JudgedLogs {
  readonly report: LogReport
  readonly templatesToRemember: readonly string[]
}
