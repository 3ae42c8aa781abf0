/** Which operation asked: a static policy, the Data API, a flat runtime body, the default decision, an ad-hoc query. */
export type DecisionKind = 'static' | 'data' | 'runtime' | 'default' | 'query'

/** How it ended: `allow` and `deny` where a verdict was asked for, else whether the document was defined. */
export type DecisionOutcome = 'allow' | 'deny' | 'defined' | 'undefined' | 'error'

/** Takes batches to a store, in order; `write` rejects with an AppError when the whole batch was lost. */
export interface BatchWriter<Batch, Receipt> {
  /** The batch may be transferred to another thread: it must not be touched afterwards. */
  write(batch: Batch): Promise<Receipt>
  close(): Promise<void>
}

/** Roughly how large a store is. */
export interface StoreSize {
  /** What decisions take, indexes included, without what deleted ones have left. */
  readonly bytes: number
  /** How many decisions it holds. */
  readonly rows: number
}

/** A decision as it is to be stored. */
export interface NewDecision extends Omit<StoredDecision, 'seq' | 'kind' | 'outcome' | 'replica'> {
  readonly kind: string
  readonly outcome: string
}

/** Takes one more decision of those that are stored together. */
export type AddDecision = (decision: NewDecision) => void

/** The writing side of the store. Every call is one transaction and raises AppError `unavailable` when it fails. */
export interface DecisionWriteStore {
  /** Stores the decisions that `addAll` adds, all of them or none. */
  insert(addAll: (add: AddDecision) => void): void
  /** Deletes at most `limit` decisions made before `timeMs`; returns how many. */
  deleteBefore(timeMs: number, limit: number): number
  /** Deletes the `limit` oldest decisions; returns how many. */
  deleteOldest(limit: number): number
  /** One bounded step of giving back what deleted decisions have left, as far as the store takes more than `maxBytes` or much more than it needs. */
  releaseSpace(maxBytes: number): void
  size(): StoreSize
  close(): void
}

/** The position of a decision in the order of the log, newest first. */
export interface DecisionPosition {
  readonly timeMs: number
  readonly seq: number
}

/** Which decisions to read; absent means any. */
export interface DecisionFilter {
  /** The exact path, or all paths below it when it ends in `/`. */
  readonly path?: string | undefined
  /** The exact name of a package, as Rego writes it, that denied: `app.rules`. */
  readonly package?: string | undefined
  readonly outcome?: DecisionOutcome | undefined
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  /** Earliest time, inclusive, in milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  /** Latest time, exclusive. */
  readonly toMs?: number | undefined
}

/** What a decision was, without what went in and came out. */
export interface DecisionHead extends DecisionPosition {
  readonly decisionId: string
  readonly kind: DecisionKind
  readonly path: string
  readonly revision: string
  readonly outcome: DecisionOutcome
  readonly application: string | null
  readonly executionId: string | null
  readonly caller: string | null
}

/** A decision as it was stored. `input` is absent when none was given or it could not be masked. */
export interface StoredDecision extends DecisionHead {
  readonly durationNs: number
  readonly requestId: string | null
  readonly error: string | null
  readonly input: Uint8Array | null
  readonly inputBytes: number | null
  readonly inputTruncated: boolean
  readonly result: Uint8Array | null
  readonly resultTruncated: boolean
  /** JSON. */
  readonly ndBuiltinCache: Uint8Array | null
  /** JSON: which packages deny, and what each says. */
  readonly packages: Uint8Array | null
  /** The process that decided, in a log that several share. */
  readonly replica?: string | undefined
}

/** Bounds of one page: it ends at whichever is reached first, but holds one decision at least. */
export interface PageBounds {
  readonly rows: number
  /** Of input and result together. */
  readonly bytes: number
}

export interface StoredDecisionPage {
  readonly decisions: readonly StoredDecision[]
  /** Present when there are more: hand it in as `after`. */
  readonly next?: DecisionPosition
}

/** The reading side of the store; raises AppError `unavailable` when it cannot be read. */
export interface DecisionReadStore {
  /** The matching decisions, newest first, that are behind `after`. */
  page(filter: DecisionFilter, bounds: PageBounds, after?: DecisionPosition): Promise<StoredDecisionPage>
  get(decisionId: string): Promise<StoredDecision | undefined>
  /** The first decisions about an execution, oldest first. */
  ofExecution(executionId: string, limit: number): Promise<readonly DecisionHead[]>
  close(): Promise<void>
}
