/**
 * Operation of a decision: static policy, Data API, flat runtime body, default decision or ad-hoc
 * query.
 */
export type DecisionKind = 'static' | 'data' | 'runtime' | 'default' | 'query'

/** Result of a decision: `allow` or `deny` for a verdict, else whether the document was defined. */
export type DecisionOutcome = 'allow' | 'deny' | 'defined' | 'undefined' | 'error'

/**
 * Writes batches to a store, in order. `write` rejects with an AppError if the whole batch was
 * lost.
 */
export interface BatchWriter<Batch, Receipt> {
  /**
   * Writes a batch. It may be transferred to another thread, so the caller must not touch it
   * afterwards.
   */
  write(batch: Batch): Promise<Receipt>
  close(): Promise<void>
}

/** Approximate size of a store. */
export interface StoreSize {
  /** Bytes that decisions and indexes use, free space excluded. */
  readonly bytes: number
  /** Number of decisions. */
  readonly rows: number
}

/** A decision to store. */
export interface NewDecision extends Omit<StoredDecision, 'seq' | 'kind' | 'outcome' | 'replica'> {
  readonly kind: string
  readonly outcome: string
}

/** Adds a decision to the current insert. */
export type AddDecision = (decision: NewDecision) => void

/** Writes decisions. Every call is one transaction and raises AppError `unavailable` on failure. */
export interface DecisionWriteStore {
  /** Stores the decisions that `addAll` adds, all of them or none. */
  insert(addAll: (add: AddDecision) => void): void
  /**
   * Deletes at most `limit` decisions made before `timeMs`. Returns the number of deleted
   * decisions.
   */
  deleteBefore(timeMs: number, limit: number): number
  /**
   * Deletes the `limit` oldest decisions. Those that a receiver waits for lose their detail first,
   * if that is configured. Returns the number of changed decisions.
   */
  deleteOldest(limit: number): number
  /** Number of decisions that lost their detail since the last call. */
  takeDetailRemoved(): number
  /**
   * Gives free space back in one bounded step, if the store uses more than `maxBytes` or much more
   * than it needs.
   */
  releaseSpace(maxBytes: number): void
  size(): StoreSize
  close(): void
}

/** Position in the log, which is ordered newest first. */
export interface DecisionPosition {
  readonly timeMs: number
  readonly seq: number
}

/** Filter of a query. Absent members match any decision. */
export interface DecisionFilter {
  /** Exact path, or prefix of paths if it ends in `/`. */
  readonly path?: string | undefined
  /** Exact name of a package that denied or warned, as in Rego: `app.rules`. */
  readonly package?: string | undefined
  readonly outcome?: DecisionOutcome | undefined
  readonly application?: string | undefined
  readonly executionId?: string | undefined
  /** Earliest time, inclusive, in epoch milliseconds. */
  readonly fromMs?: number | undefined
  /** Latest time, exclusive. */
  readonly toMs?: number | undefined
}

/** A decision without its input and result. */
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

/** A stored decision. `input` is null if there was none or it could not be masked. */
export interface StoredDecision extends DecisionHead {
  readonly durationNs: number
  readonly requestId: string | null
  readonly traceId: string | null
  readonly error: string | null
  readonly input: Uint8Array | null
  readonly inputBytes: number | null
  readonly inputTruncated: boolean
  readonly result: Uint8Array | null
  readonly resultTruncated: boolean
  /** JSON text. */
  readonly ndBuiltinCache: Uint8Array | null
  /** JSON text: the packages that deny or warn, with their messages. */
  readonly packages: Uint8Array | null
  /** The process that made the decision, in a shared log. */
  readonly replica?: string | undefined
}

/** Limits of one page. The first limit reached ends it, but a page has at least one decision. */
export interface PageBounds {
  readonly rows: number
  /** Bytes of inputs and results together. */
  readonly bytes: number
  /** Whether inputs are read and counted; true by default. */
  readonly withInputs?: boolean
}

export interface StoredDecisionPage {
  readonly decisions: readonly StoredDecision[]
  /** Value of `after` for the next page; absent after the last page. */
  readonly next?: DecisionPosition
}

/** Filter of a count. Only outcomes with an index of their own are counted. */
export interface DecisionCountFilter {
  readonly outcome: 'deny' | 'error' | 'undefined'
  readonly fromMs: number
}

export interface DenialQuery {
  /** Exact name of the package: `app.rules`. */
  readonly package: string
  readonly fromMs: number
  readonly periodMs: number
}

/** Denials in a period. Period 0 starts at the query's `fromMs`. */
export interface DenialCount {
  readonly period: number
  readonly count: number
}

/** Reads decisions. Raises AppError `unavailable` if the store cannot be read. */
export interface DecisionReadStore {
  /** The matching decisions after `after`, newest first. */
  page(filter: DecisionFilter, bounds: PageBounds, after?: DecisionPosition): Promise<StoredDecisionPage>
  /** Number of decisions with an outcome since a time, at most `max`. */
  count(filter: DecisionCountFilter, max: number): Promise<number>
  /** The newest denials by a package since a time, at most `max`, counted by periods. */
  denials(query: DenialQuery, max: number): Promise<readonly DenialCount[]>
  get(decisionId: string): Promise<StoredDecision | undefined>
  /** The first decisions about an execution, oldest first. */
  ofExecution(executionId: string, limit: number): Promise<readonly DecisionHead[]>
  close(): Promise<void>
}
