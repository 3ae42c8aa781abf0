/** What the registry holds. */
export type RegistryKind = 'application' | 'pipeline'

/** Where a version came from. */
export type RegistrySource = 'event' | 'reconciliation'

/** How an entry is known, but for its definition. */
export interface RegistryHead {
  readonly kind: RegistryKind
  /** Tells it from others of its kind: the application's name, or application and name, without case. */
  readonly key: string
  /** The application's name without case. */
  readonly applicationKey: string
  readonly application: string
  /** Of the application, or of the pipeline. */
  readonly name: string
  /** The orchestrator's own id of a pipeline, where it is known. */
  readonly pipelineId?: string | undefined
  /** Of the definition; undefined when it was deleted. */
  readonly digest: string | undefined
  /** When the orchestrator made it so, by its clock, in milliseconds since the epoch. */
  readonly changedMs: number
  readonly changedBy?: string | undefined
  /** When the registry took it in. */
  readonly recordedMs: number
}

/** An entry as it is stored. */
export interface RegistryEntry extends RegistryHead {
  /** Stays the same whatever becomes of the entry; fits 32 bits. */
  readonly id: number
  /** 1, 2, 3, … */
  readonly version: number
}

/** What a version of an entry was. */
export interface RegistryVersion {
  readonly version: number
  readonly changedMs: number
  readonly changedBy?: string | undefined
  readonly recordedMs: number
  readonly source: RegistrySource
  /** The audit record of the event that told of it. */
  readonly seq?: number | undefined
  /** JSON text; undefined when it was deleted. */
  readonly definition: string | undefined
}

/** Where a new version comes from, with its definition. */
export type VersionOrigin = Pick<RegistryVersion, 'source' | 'seq' | 'definition'>

/** The writing side of the registry. */
export interface RegistryRepository {
  /** By the key of an application. */
  findApplication(key: string): Promise<RegistryEntry | undefined>
  /** By the orchestrator's id, else by the key one that has no id yet or, without an id, the newest of that key. */
  findPipeline(pipelineId: string | undefined, key: string): Promise<RegistryEntry | undefined>
  /** JSON text of what an entry is now; undefined when it was deleted. */
  definition(entry: RegistryEntry): Promise<string | undefined>
  /** Notes that an entry was made the same again, later. */
  touch(
    known: RegistryEntry,
    again: Pick<RegistryHead, 'changedMs' | 'changedBy' | 'recordedMs'>,
  ): Promise<void>
  /** Adds an entry, or the next version of one. */
  save(known: RegistryEntry | undefined, head: RegistryHead, origin: VersionOrigin): Promise<RegistryEntry>
}

/** A page of entries in the order of applications and names. */
export interface RegistryQuery {
  readonly kind: RegistryKind
  readonly applicationKey?: string | undefined
  /** Part of the name, without case. */
  readonly nameContains?: string | undefined
  readonly withDeleted: boolean
  readonly limit: number
  /** The last entry of the page before. */
  readonly afterId?: number | undefined
}

/** The reading side of the registry. */
export interface RegistryReader {
  page(query: RegistryQuery): Promise<readonly RegistryEntry[]>
  findById(id: number): Promise<RegistryEntry | undefined>
  findApplication(key: string): Promise<RegistryEntry | undefined>
  findPipeline(pipelineId: string): Promise<RegistryEntry | undefined>
  /** A pipeline of an application by its key, the newest of that name. */
  findPipelineByKey(key: string): Promise<RegistryEntry | undefined>
  /** The names of applications that have pipelines, each once. */
  applicationsOfPipelines(limit: number): Promise<readonly string[]>
  /** The newest `limit` versions before one, newest first. */
  versions(id: number, limit: number, before?: number): Promise<readonly RegistryVersion[]>
  /** Entries of a kind, deleted ones too, in the order of their ids. */
  all(kind: RegistryKind, afterId: number, limit: number): Promise<readonly RegistryEntry[]>
  /** Whether kept events are still to be acted on. */
  hasWaitingEvents(): Promise<boolean>
}

/** Kept events that are still to be acted on. */
export interface EventQueue {
  /** Marks the event in an audit record. */
  add(seq: number): Promise<void>
  /** The audit records of the oldest waiting events. */
  waiting(limit: number): Promise<readonly number[]>
  /** The event has been acted on. */
  remove(seq: number): Promise<void>
}
