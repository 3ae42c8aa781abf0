/** Where an analysis stands, in the words of its readers. */
export type RunState = 'RUNNING' | 'COMPLETED' | 'CANCELLED'
export type Verdict = 'Success' | 'Review' | 'Fail'

/** How the analyses of one application are done, as it was given. */
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
  /** Of the text as it was sent, 40 hex digits. */
  readonly sha1: string
  readonly body: string
  readonly createdMs: number
  /** Whether it is found by its name alone; the newest such is. */
  readonly isNamed: boolean
}

/** What plans have in common, such as the metrics of a template: kept once, by its content. */
export interface PlanPart {
  /** SHA-256 of the body in hex. */
  readonly sha256: string
  /** JSON text. */
  readonly body: string
}

/** An analysis at its start. Times are milliseconds since the epoch. */
export interface NewRun {
  readonly application: string
  readonly executionId?: string | undefined
  readonly owner?: string | undefined
  /** With its parts all that the run needs, as JSON text: later changes of the definition do not touch it. */
  readonly plan: string
  readonly startedMs: number
  readonly intervals: number
  readonly nextIntervalMs: number
}

/** An analysis with where it stands. */
export interface StoredRun extends NewRun {
  readonly id: number
  readonly state: RunState
  /** How many intervals are done. */
  readonly intervalsDone: number
  readonly score?: number | undefined
  readonly verdict?: Verdict | undefined
  readonly message: string
  readonly errors: readonly string[]
  readonly finishedMs?: number | undefined
  readonly updatedMs: number
  /** How often the next interval was begun and neither ended nor was given up. */
  readonly intervalAttempts?: number | undefined
  /** When its intervals were removed, being old. */
  readonly dataRemovedMs?: number | undefined
}

/** What becomes of a run. */
export type RunProgress = Pick<
  StoredRun,
  | 'id'
  | 'state'
  | 'intervalsDone'
  | 'score'
  | 'verdict'
  | 'message'
  | 'errors'
  | 'finishedMs'
  | 'updatedMs'
  | 'nextIntervalMs'
>

/** One look at the data of a run: what was made of it as JSON text, and what was fetched, both packed by gzip. */
export interface StoredInterval {
  readonly runId: number
  readonly interval: number
  readonly atMs: number
  readonly report: string
  /** All but the lines of logs, which few readers need. */
  readonly data: Uint8Array
  readonly lines: Uint8Array
}

/** The writing side of analyses. */
export interface AnalysisRepository {
  saveDefinition(definition: StoredDefinition): Promise<void>
  findDefinition(application: string): Promise<StoredDefinition | undefined>
  /** Whether there was one. */
  deleteDefinition(application: string): Promise<boolean>
  /** Keeps a template; where it is found by its name, no other of the name is any more. */
  saveTemplate(template: StoredTemplate): Promise<void>
  /** The template of a name, or of a name and a SHA-1. */
  findTemplate(type: TemplateType, name: string, sha1?: string): Promise<StoredTemplate | undefined>
  /** How many templates are kept, of all types and names. */
  countTemplates(): Promise<number>
  /** Deletes the oldest template that is found by its SHA-1 alone; whether there was any. */
  deleteOldestTemplate(): Promise<boolean>
  /** Deletes all of a name; whether there were any. */
  deleteTemplates(type: TemplateType, name: string): Promise<boolean>
  /** Keeps a run, with those parts of its plan that are not stored yet. */
  insertRun(run: NewRun, planParts: readonly PlanPart[]): Promise<number>
  findRun(id: number): Promise<StoredRun | undefined>
  /** Also ends what `saveIntervalAttempts` began. */
  saveProgress(progress: RunProgress): Promise<void>
  saveIntervalAttempts(id: number, attempts: number): Promise<void>
  saveInterval(interval: StoredInterval): Promise<void>
  /** Deletes so many of the intervals of a run at most, the first ones first; returns how many. */
  deleteIntervals(runId: number, limit: number): Promise<number>
  markDataRemoved(runId: number, nowMs: number): Promise<void>
  /** Remembers that an application's log had these templates. */
  rememberLogTemplates(application: string, keys: readonly string[], runId: number): Promise<void>
}

/** Which runs to list, newest first. */
export interface RunFilter {
  readonly application?: string | undefined
  readonly state?: RunState | undefined
  readonly executionId?: string | undefined
  /** Begun from this time on, and before that one, in milliseconds. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  readonly beforeId?: number | undefined
  readonly limit: number
}

/** The reading side of analyses. */
export interface AnalysisReader {
  definition(application: string): Promise<StoredDefinition | undefined>
  definitions(): Promise<readonly StoredDefinition[]>
  /** The template of a name, or of a name and a SHA-1; without one the newest that is found by its name. */
  template(type: TemplateType, name: string, sha1?: string): Promise<StoredTemplate | undefined>
  /** The names of the templates of a type, sorted. */
  templateNames(type: TemplateType): Promise<readonly string[]>
  run(id: number): Promise<StoredRun | undefined>
  runs(filter: RunFilter): Promise<readonly StoredRun[]>
  /** The bodies of parts of plans, by their SHA-256. */
  planParts(sha256s: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** The first to have ended of the runs that ended before and still have intervals. */
  expiredRun(beforeMs: number): Promise<number | undefined>
  interval(runId: number, interval: number): Promise<StoredInterval | undefined>
  intervals(runId: number): Promise<readonly Omit<StoredInterval, 'data' | 'lines'>[]>
  logTemplates(application: string): Promise<readonly string[]>
}
