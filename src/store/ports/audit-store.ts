/** Parts of the service that write audit records. */
export const AUDIT_SOURCES = ['event', 'gate', 'policy', 'analysis', 'registry', 'webhook', 'admin'] as const

/** The part of the service that an audit record is about. */
export type AuditSource = (typeof AUDIT_SOURCES)[number]

/**
 * Text columns that records are found by. The column that usually has the rarest values comes
 * first.
 */
export const AUDIT_TEXT_COLUMNS = [
  'executionId',
  'pipeline',
  'application',
  'user',
  'stage',
  'kind',
  'status',
  'source',
] as const
export type AuditTextColumn = (typeof AUDIT_TEXT_COLUMNS)[number]

/** The columns that audit records are searched by. */
export interface AuditColumns {
  /** Time of the event, in epoch milliseconds. */
  readonly timeMs: number
  readonly source: AuditSource
  /**
   * Kind of event: `gate.approved`, or the type of an orchestrator event such as
   * `orca:pipeline:complete`.
   */
  readonly kind: string
  readonly application?: string | undefined
  readonly pipeline?: string | undefined
  readonly executionId?: string | undefined
  readonly stage?: string | undefined
  readonly user?: string | undefined
  readonly status?: string | undefined
  /** Address and token name of the caller, as far as known. */
  readonly origin?: string | undefined
}

/** A record to append to the trail. */
export interface AuditEntry extends AuditColumns {
  /** The sender's id of the event. A second entry with the same id is not stored. */
  readonly eventId?: string | undefined
  /** Complete JSON text in UTF-8, without secrets. */
  readonly body: Uint8Array
}

/** A record without its body. */
export interface AuditHead extends AuditColumns {
  /** Position in the chain: 1, 2, 3, … without gaps. */
  readonly seq: number
  /** Time of storage, in epoch milliseconds. Never earlier than that of the record before. */
  readonly recordedMs: number
  readonly eventId?: string | undefined
  /** Size of the body in bytes. */
  readonly bodyBytes: number
  /** The record's link of the chain, 64 hex digits. */
  readonly hash: string
}

/** A record of the trail. */
export interface AuditRecord extends AuditHead {
  readonly body: Uint8Array
}

/** Position of an entry, and whether its event is new. */
export interface AuditReceipt {
  readonly seq: number
  readonly isNew: boolean
}

/** Appends to the trail. Records never change. */
export interface AuditAppender {
  append(entry: AuditEntry): Promise<AuditReceipt>
}

/** A position in the chain with the link of its record, 64 hex digits. Position 0 has zeros. */
export interface ChainEnd {
  readonly seq: number
  readonly hash: string
}

export type CheckpointReason = 'interval' | 'shutdown' | 'retention' | 'request'

/** A statement that the chain had a link at a position. It is signed if a key is configured. */
export interface AuditCheckpoint extends ChainEnd {
  readonly atMs: number
  readonly reason: CheckpointReason
  /** First 16 hex digits of the SHA-256 of the public key. */
  readonly keyId?: string | undefined
  /** Ed25519 signature in Base64. */
  readonly signature?: string | undefined
}

/** Result of a step of retention. */
export interface RemovedRecords {
  readonly removed: number
  /** Whether another step would remove more records now. */
  readonly isMoreLeft: boolean
}

/** The trail for operations that append to it and maintain it. */
export interface AuditKeeper extends AuditAppender {
  end(): Promise<ChainEnd>
  /** Returns one record, or undefined. */
  find(seq: number): Promise<AuditRecord | undefined>
  /** Raises `conflict` if the chain has no such link. */
  addCheckpoint(checkpoint: AuditCheckpoint): Promise<void>
  /**
   * Removes some of the oldest records, up to the one of a retention checkpoint: at most `limit`
   * records, or a whole month. Raises `conflict` without such a checkpoint.
   */
  deleteThrough(seq: number, limit: number): Promise<RemovedRecords>
}

/** Filter of a search. Absent members match any record. */
export interface AuditFilter extends Partial<Readonly<Record<AuditTextColumn, string | undefined>>> {
  readonly eventId?: string | undefined
  /** Earliest time, inclusive, in epoch milliseconds. */
  readonly fromMs?: number | undefined
  /** Latest time, exclusive. */
  readonly toMs?: number | undefined
}

/** Position of a record in the order of time. */
export interface AuditPosition {
  readonly timeMs: number
  readonly seq: number
}

/** A page in the order of time. */
export interface AuditPageQuery {
  readonly filter: AuditFilter
  readonly order: 'newest_first' | 'oldest_first'
  readonly limit: number
  readonly after?: AuditPosition | undefined
}

/** A page of the records whose bodies contain all words, newest record first. */
export interface AuditTextQuery {
  readonly filter: AuditFilter
  /** At least one word. A final `*` matches any ending. */
  readonly words: readonly string[]
  readonly limit: number
  readonly beforeSeq?: number | undefined
}

/**
 * A page of a text search. `nextSeq` is present if records are left to search, even if the page is
 * not full.
 */
export interface AuditTextPage {
  readonly records: readonly AuditHead[]
  readonly nextSeq?: number | undefined
}

/** Result of checking a part of the chain. */
export interface ChainCheck {
  /** The last correct link. */
  readonly end: ChainEnd
  readonly checked: number
  /** The first wrong record, with the reason. */
  readonly broken?: { readonly seq: number; readonly problem: string } | undefined
  /** The requested links that were reached. */
  readonly links: readonly ChainEnd[]
}

/** Size of the trail. */
export interface AuditSize {
  readonly firstSeq: number
  readonly endSeq: number
  /** Bytes that the whole store uses, indexes included and free space excluded. */
  readonly bytes: number
}

/** Reads the trail. */
export interface AuditReader {
  /** Returns one record, or undefined. */
  find(seq: number): Promise<AuditRecord | undefined>
  page(query: AuditPageQuery): Promise<readonly AuditHead[]>
  textPage(query: AuditTextQuery): Promise<AuditTextPage>
  /** Returns at most `limit` records after a position, in the order of storage. */
  headsAfter(seq: number, limit: number): Promise<readonly AuditHead[]>
  /** Returns the bodies of records in the order of `seqs`. Raises `not_found`. */
  bodies(seqs: readonly number[]): Promise<readonly Uint8Array[]>
  /**
   * Checks the chain from a link over at most `limit` records, and returns the links at the
   * positions `links`.
   */
  check(from: ChainEnd, limit: number, links: readonly number[]): Promise<ChainCheck>
  /** All checkpoints from a record on, in order. */
  checkpoints(fromSeq: number): Promise<readonly AuditCheckpoint[]>
  /** The newest checkpoint. */
  lastCheckpoint(): Promise<AuditCheckpoint | undefined>
  end(): Promise<ChainEnd>
  /** Distinct applications of all records, including removed ones. */
  applications(limit: number): Promise<readonly string[]>
  /** Number of the newest records that the text search does not find yet. */
  unindexed(): Promise<number>
  size(): Promise<AuditSize>
  /**
   * The last record that retention may remove for a time, 0 without any. If only whole months can
   * be removed, it is the last record of one.
   */
  lastRemovable(recordedMs: number): Promise<number>
}
