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

/** The lines of one side, in order of time, and what they can be compared by. */
export interface LogSide {
  readonly lines: Sequence<LogLine>
  /** Of which lines are there, in milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  /** Requests that were served meanwhile, where somebody counts them: the best measure of exposure. */
  readonly requests?: number | undefined
  /** Instances that wrote the lines, 1 when not known. */
  readonly instances?: number | undefined
  /** Whether a limit left lines out. */
  readonly isTruncated: boolean
}

/** What the judge of logs needs. */
export interface LogJudgeInput {
  /** Undefined when the canary is judged without one. */
  readonly baseline: LogSide | undefined
  readonly canary: LogSide
  /** Keys of templates that earlier releases logged. Empty means that nothing is known of them. */
  readonly seenTemplates: readonly string[]
  readonly thresholds: ScoreThresholds
}

/** What it means for the run when a side has no lines. */
export type EmptyLogPolicy = 'fail' | 'review' | 'ignore'

export interface LogJudgeOptions {
  readonly topics: readonly Topic[]
  readonly sensitivity: Sensitivity
  /** Whether a new critical template fails the run, however rare it is. */
  readonly failsOnCritical: boolean
  /** Whether ordinary lines that are new or more frequent cost points too. */
  readonly scoresOrdinaryLines: boolean
  readonly emptyLog: EmptyLogPolicy
  /** Which of the planned looks at the log this is: the error is spent over them. */
  readonly interval?: PlannedInterval | undefined
}

/** `ordinary` are lines without a topic. */
export type LineSeverity = Severity | 'ordinary'

/** `new`: the baseline has none. `missing`: the canary has none. */
export type TemplateChange = 'new' | 'more' | 'same' | 'fewer' | 'missing'

/** The events of one template, topic and logger, on both sides. A stack trace is one event. */
export interface TemplateFinding {
  /** The template's id: templates are numbered as they appear, the baseline's lines first. */
  readonly cluster: number
  readonly key: string
  readonly template: string
  readonly severity: LineSeverity
  /** The text of the topic that told the severity. */
  readonly topic: string | null
  readonly change: TemplateChange
  /** Whether a single event of it asks people: critical, and no release is known to have logged it. */
  readonly asksForReview: boolean
  /** Whether it costs points. */
  readonly isUnexpected: boolean
  /** Whether no earlier release logged it either, as far as that is known. */
  readonly isNewEver: boolean
  readonly baselineEvents: number
  readonly canaryEvents: number
  /** Events by exposure, canary by baseline; null where the baseline has none. */
  readonly ratio: number | null
  /** The least ratio that the events are compatible with (95 %, exact). */
  readonly ratioLower: number
  /** How likely so many events, or more, are when both sides are alike; for missing ones, so few or fewer. */
  readonly p: number
  /** Over all templates that were tested (Benjamini and Hochberg). */
  readonly pAdjusted: number
  /** How much more the events of a minute vary than independent ones; 1 when no more. */
  readonly dispersion: number
  /** Points of the score. */
  readonly lostPoints: number
  readonly reason: string
  readonly samples: { readonly baseline: readonly string[]; readonly canary: readonly string[] }
}

/** What the sides are compared by. */
export interface LogExposure {
  readonly basis: 'requests' | 'ordinaryLines' | 'time'
  readonly baseline: number
  readonly canary: number
  /** The canary's share: the chance that an event is on its side when both are alike. */
  readonly canaryShare: number
}

/** `compared`, or why not. */
export type LogState = 'compared' | 'noBaseline' | 'baselineEmpty' | 'canaryEmpty' | 'bothEmpty'

export interface LogSideSummary {
  readonly lines: number
  readonly events: number
  readonly isTruncated: boolean
}

/** What the judge of logs says, and why. */
export interface LogReport {
  readonly state: LogState
  /** 0 to 100. */
  readonly score: number
  readonly verdict: 'Success' | 'Review' | 'Fail'
  readonly reason: string
  /** Whether later looks cannot mend it. */
  readonly endsRun: boolean
  readonly exposure: LogExposure | null
  readonly baseline: LogSideSummary | null
  readonly canary: LogSideSummary
  /** Templates in all, and those events that came when the table of them was full. */
  readonly templates: number
  readonly otherEvents: number
  /** How different the mix of templates is, 0 to 1 (Jensen-Shannon divergence in bits); information only. */
  readonly mixDivergence: number | null
  /** A stretch in which the canary logged nothing and its baseline did, as a sentence; null where there is none. */
  readonly silence: string | null
  /** Those with a severity, what costs most first; a bounded number. */
  readonly findings: readonly TemplateFinding[]
  /** Those that the canary should have and has not, surest first; information only. */
  readonly missing: readonly TemplateFinding[]
  readonly omittedFindings: number
  readonly warnings: readonly string[]
}

/** A report, and by which keys later runs know the templates of this one. */
export interface JudgedLogs {
  readonly report: LogReport
  readonly templatesToRemember: readonly string[]
}
