/** State of an analysis, in the words of the API. */
export type RunState = 'RUNNING' | 'COMPLETED' | 'CANCELLED'
export type Verdict = 'Success' | 'Review' | 'Fail'

/** What a person says about a verdict: it was right, a false alarm, or missed a change. */
export const JUDGEMENTS = ['right', 'falseAlarm', 'missed'] as const
export type Judgement = (typeof JUDGEMENTS)[number]

/** A judgement about a verdict. */
export interface StoredFeedback {
  readonly judgement: Judgement
  /** The metrics that it is about. */
  readonly metrics: readonly string[]
  readonly comment?: string | undefined
  readonly by?: string | undefined
  readonly atMs: number
}

/** Definition of an application's analyses. */
export interface StoredDefinition {
  readonly application: string
  /** The definition as JSON text. */
  readonly definition: string
  readonly origin: 'configuration' | 'api'
  readonly updatedMs: number
  readonly updatedBy?: string | undefined
}

export type TemplateType = 'METRIC' | 'LOG'

/** A template that definitions and registrations name. */
export interface StoredTemplate {
  readonly type: TemplateType
  readonly name: string
  /** SHA-1 of the text as it was sent, 40 hex digits. */
  readonly sha1: string
  readonly body: string
  readonly createdMs: number
  /** Whether the name alone finds the template. The newest is found if there are several. */
  readonly isNamed: boolean
}

/**
 * A part that several plans share, such as the metrics of a template. Stored once by its content.
 */
export interface PlanPart {
  /** SHA-256 of the body in hex. */
  readonly sha256: string
  /** JSON text. */
  readonly body: string
}

/** A new analysis. Times are epoch milliseconds. */
export interface NewRun {
  readonly application: string
  readonly executionId?: string | undefined
  readonly owner?: string | undefined
  /**
   * JSON text. Together with its parts it has all that the run needs: later changes of the
   * definition do not affect the run.
   */
  readonly plan: string
  readonly startedMs: number
  readonly intervals: number
  readonly nextIntervalMs: number
}

/** An analysis with its progress. */
export interface StoredRun extends NewRun {
  readonly id: number
  readonly state: RunState
  /** Number of finished intervals. */
  readonly intervalsDone: number
  readonly score?: number | undefined
  /** Why the score says nothing and is shown as a dash. Undefined if it says something. */
  readonly unscored?: string | undefined
  readonly verdict?: Verdict | undefined
  readonly message: string
  readonly errors: readonly string[]
  readonly finishedMs?: number | undefined
  readonly updatedMs: number
  /** How often the next interval was started without being finished or given up. */
  readonly intervalAttempts?: number | undefined
  /** Time at which retention removed the intervals. */
  readonly dataRemovedMs?: number | undefined
  readonly feedback?: StoredFeedback | undefined
}

/** Change of a run. */
export type RunProgress = Pick<
  StoredRun,
  | 'id'
  | 'state'
  | 'intervalsDone'
  | 'score'
  | 'unscored'
  | 'verdict'
  | 'message'
  | 'errors'
  | 'finishedMs'
  | 'updatedMs'
  | 'nextIntervalMs'
>

/** One interval of a run. The report is JSON text; `data` and `lines` are packed by gzip. */
export interface StoredInterval {
  readonly runId: number
  readonly interval: number
  readonly atMs: number
  readonly report: string
  /** The fetched data without log lines, which few readers need. */
  readonly data: Uint8Array
  readonly lines: Uint8Array
}

/** Writes analyses. */
export interface AnalysisRepository {
  saveDefinition(definition: StoredDefinition): Promise<void>
  findDefinition(application: string): Promise<StoredDefinition | undefined>
  /** Returns whether there was one. */
  deleteDefinition(application: string): Promise<boolean>
  /** Saves a template. If it can be found by its name, no other template of that name can. */
  saveTemplate(template: StoredTemplate): Promise<void>
  /** Returns the template of a name, or of a name and a SHA-1. */
  findTemplate(type: TemplateType, name: string, sha1?: string): Promise<StoredTemplate | undefined>
  /** Number of stored templates, of all types and names. */
  countTemplates(): Promise<number>
  /** Deletes the oldest template that only its SHA-1 finds. Returns whether there was one. */
  deleteOldestTemplate(): Promise<boolean>
  /** Deletes all templates of a name. Returns whether there were any. */
  deleteTemplates(type: TemplateType, name: string): Promise<boolean>
  /** Inserts a run, and those parts of its plan that are not stored yet. */
  insertRun(run: NewRun, planParts: readonly PlanPart[]): Promise<number>
  findRun(id: number): Promise<StoredRun | undefined>
  /** Saves progress and resets the attempts of `saveIntervalAttempts`. */
  saveProgress(progress: RunProgress): Promise<void>
  /** Replaces the judgement about a run's verdict. */
  saveFeedback(id: number, feedback: StoredFeedback): Promise<void>
  saveIntervalAttempts(id: number, attempts: number): Promise<void>
  saveInterval(interval: StoredInterval): Promise<void>
  /** Deletes the first `limit` intervals of a run. Returns the number of deleted intervals. */
  deleteIntervals(runId: number, limit: number): Promise<number>
  markDataRemoved(runId: number, nowMs: number): Promise<void>
  /** Records that the log of an application contained these templates. */
  rememberLogTemplates(application: string, keys: readonly string[], runId: number): Promise<void>
}

/** Filter of a list of runs, newest first. */
export interface RunFilter {
  readonly application?: string | undefined
  readonly state?: RunState | undefined
  readonly executionId?: string | undefined
  /** Earliest start, inclusive, in epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly beforeId?: number | undefined
  /** Only runs with a judgement about their verdict. */
  readonly hasFeedback?: true | undefined
  readonly limit: number
}

/** Reads analyses. */
export interface AnalysisReader {
  definition(application: string): Promise<StoredDefinition | undefined>
  definitions(): Promise<readonly StoredDefinition[]>
  /**
   * Returns the template of a name and a SHA-1, or without a SHA-1 the newest one that can be found
   * by its name alone.
   */
  template(type: TemplateType, name: string, sha1?: string): Promise<StoredTemplate | undefined>
  /** Names of the templates of a type, sorted. */
  templateNames(type: TemplateType): Promise<readonly string[]>
  run(id: number): Promise<StoredRun | undefined>
  runs(filter: RunFilter): Promise<readonly StoredRun[]>
  /** Bodies of plan parts by their SHA-256. */
  planParts(sha256s: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The run that ended first, of the runs that ended before a time and still have intervals. */
  expiredRun(beforeMs: number): Promise<number | undefined>
  interval(runId: number, interval: number): Promise<StoredInterval | undefined>
  intervals(runId: number): Promise<readonly Omit<StoredInterval, 'data' | 'lines'>[]>
  logTemplates(application: string): Promise<readonly string[]>
}
