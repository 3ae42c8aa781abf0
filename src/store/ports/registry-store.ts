/** Kinds of registry entries. */
export type RegistryKind = 'application' | 'pipeline'

/** Origin of a version. */
export type RegistrySource = 'event' | 'reconciliation'

/** An entry without its definition. */
export interface RegistryHead {
  readonly kind: RegistryKind
  /**
   * Identifies the entry among those of its kind: the application's name, or application and
   * pipeline name, in lower case.
   */
  readonly key: string
  /** The application's name in lower case. */
  readonly applicationKey: string
  readonly application: string
  /** Name of the application or pipeline. */
  readonly name: string
  /** The orchestrator's id of a pipeline, if known. */
  readonly pipelineId?: string | undefined
  /** Digest of the definition; undefined if the entry was deleted. */
  readonly digest: string | undefined
  /** Time of the change by the orchestrator's clock, in epoch milliseconds. */
  readonly changedMs: number
  readonly changedBy?: string | undefined
  /** Time at which the registry recorded the change. */
  readonly recordedMs: number
}

/** A stored entry. */
export interface RegistryEntry extends RegistryHead {
  /** Never changes. Fits 32 bits. */
  readonly id: number
  /** 1, 2, 3, … */
  readonly version: number
}

/** A version of an entry. */
export interface RegistryVersion {
  readonly version: number
  readonly changedMs: number
  readonly changedBy?: string | undefined
  readonly recordedMs: number
  readonly source: RegistrySource
  /** The audit record of the event that reported the change. */
  readonly seq?: number | undefined
  /** JSON text; undefined if the entry was deleted. */
  readonly definition: string | undefined
}

/** Origin and definition of a new version. */
export type VersionOrigin = Pick<RegistryVersion, 'source' | 'seq' | 'definition'>

/** Writes the registry. */
export interface RegistryRepository {
  /** Finds an application by its key. */
  findApplication(key: string): Promise<RegistryEntry | undefined>
  /**
   * Finds a pipeline by the orchestrator's id, else by its key if it has no id. Without an id,
   * finds the newest pipeline with the key.
   */
  findPipeline(pipelineId: string | undefined, key: string): Promise<RegistryEntry | undefined>
  /** JSON text of the current definition; undefined if the entry was deleted. */
  definition(entry: RegistryEntry): Promise<string | undefined>
  /** Updates the times of an entry that was saved again without a change. */
  touch(
    known: RegistryEntry,
    again: Pick<RegistryHead, 'changedMs' | 'changedBy' | 'recordedMs'>,
  ): Promise<void>
  /** Adds an entry, or the next version of an entry. */
  save(known: RegistryEntry | undefined, head: RegistryHead, origin: VersionOrigin): Promise<RegistryEntry>
}

/** A page of entries, ordered by application and name. */
export interface RegistryQuery {
  readonly kind: RegistryKind
  readonly applicationKey?: string | undefined
  /** Part of the name, without case. */
  readonly nameContains?: string | undefined
  readonly withDeleted: boolean
  readonly limit: number
  /** The last entry of the previous page. */
  readonly afterId?: number | undefined
}

/** Reads the registry. */
export interface RegistryReader {
  page(query: RegistryQuery): Promise<readonly RegistryEntry[]>
  findById(id: number): Promise<RegistryEntry | undefined>
  findApplication(key: string): Promise<RegistryEntry | undefined>
  findPipeline(pipelineId: string): Promise<RegistryEntry | undefined>
  /** Finds a pipeline by its key. Returns the newest if there are several. */
  findPipelineByKey(key: string): Promise<RegistryEntry | undefined>
  /** Distinct names of applications that have pipelines. */
  applicationsOfPipelines(limit: number): Promise<readonly string[]>
  /** The newest `limit` versions before `before`, newest first. */
  versions(id: number, limit: number, before?: number): Promise<readonly RegistryVersion[]>
  /** Entries of a kind, deleted ones included, ordered by id. */
  all(kind: RegistryKind, afterId: number, limit: number): Promise<readonly RegistryEntry[]>
  /** Whether stored events wait to be processed. */
  hasWaitingEvents(): Promise<boolean>
}

/** Stored events that wait to be processed, by their audit records. */
export interface EventQueue {
  /** Adds an event. */
  add(seq: number): Promise<void>
  /** The oldest waiting events. */
  waiting(limit: number): Promise<readonly number[]>
  /** Removes a processed event. */
  remove(seq: number): Promise<void>
}
