/** The parts of the service that keep records. */
export const AUDIT_SOURCES = ['event', 'gate', 'policy', 'analysis', 'registry', 'webhook', 'admin'] as const

/** The part of the service that an audit record is about. */
export type AuditSource = (typeof AUDIT_SOURCES)[number]

/** The texts that records are found by, in the order in which the rarest usually comes first. */
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
  /** When it happened, in milliseconds since the epoch. */
  readonly timeMs: number
  readonly source: AuditSource
  /** What happened: `gate.approved`, or an event's own type, `orca:pipeline:complete`. */
  readonly kind: string
  readonly application?: string | undefined
  readonly pipeline?: string | undefined
  readonly executionId?: string | undefined
  readonly stage?: string | undefined
  readonly user?: string | undefined
  readonly status?: string | undefined
  /** From where: the address and the token's name, as far as they are known. */
  readonly origin?: string | undefined
}

/** One record as it is handed to the trail. */
export interface AuditEntry extends AuditColumns {
  /** Of the sender; a second entry with the same id is not kept. */
  readonly eventId?: string | undefined
  /** JSON text in UTF-8, whole, without secrets. */
  readonly body: Uint8Array
}

/** One record without its body. */
export interface AuditHead extends AuditColumns {
  /** Its place in the chain: 1, 2, 3, … without gaps. */
  readonly seq: number
  /** When it was stored; never earlier than that of the record before. */
  readonly recordedMs: number
  readonly eventId?: string | undefined
  /** Size of the body. */
  readonly bodyBytes: number
  /** The record's link of the chain, 64 hex digits. */
  readonly hash: string
}

/** One record of the trail. */
export interface AuditRecord extends AuditHead {
  readonly body: Uint8Array
}

/** What became of an entry: its place, and whether its event was stored before. */
export interface AuditReceipt {
  readonly seq: number
  readonly isNew: boolean
}

/** Appends to the trail; nothing in it is ever changed. */
export interface AuditAppender {
  append(entry: AuditEntry): Promise<AuditReceipt>
}

/** A place in the chain: the link of a record, 64 hex digits; zeros for the place before the first record. */
export interface ChainEnd {
  readonly seq: number
  readonly hash: string
}

export type CheckpointReason = 'interval' | 'shutdown' | 'retention' | 'request'

/** A statement that the chain had a link at a place, signed where a key is configured. */
export interface AuditCheckpoint extends ChainEnd {
  readonly atMs: number
  readonly reason: CheckpointReason
  /** Names the key: the first 16 hex digits of the SHA-256 of its public half. */
  readonly keyId?: string | undefined
  /** Ed25519, in Base64. */
  readonly signature?: string | undefined
}

/** What a step of retention did. */
export interface RemovedRecords {
  readonly removed: number
  /** Whether another step would remove more now. */
  readonly isMoreLeft: boolean
}

/** The trail as those operations need it that keep it in order. */
export interface AuditKeeper extends AuditAppender {
  end(): Promise<ChainEnd>
  /** One record, or undefined. */
  find(seq: number): Promise<AuditRecord | undefined>
  /** Raises `conflict` where the chain has no such link. */
  addCheckpoint(checkpoint: AuditCheckpoint): Promise<void>
  /** Removes some of the oldest records, up to a checkpoint's: `limit` of them, or all of a part that is old. Raises `conflict` without such a checkpoint. */
  deleteThrough(seq: number, limit: number): Promise<RemovedRecords>
}

/** Which records to search for; absent means any. */
export interface AuditFilter extends Partial<Readonly<Record<AuditTextColumn, string | undefined>>> {
  readonly eventId?: string | undefined
  /** Earliest time, inclusive, in milliseconds since the epoch. */
  readonly fromMs?: number | undefined
  /** Latest time, exclusive. */
  readonly toMs?: number | undefined
}

/** The position of a record in the order of time. */
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

/** A page of those whose body holds all words, in the order of keeping, newest first. */
export interface AuditTextQuery {
  readonly filter: AuditFilter
  /** At least one; a word that ends in `*` stands for all that begin so. */
  readonly words: readonly string[]
  readonly limit: number
  readonly beforeSeq?: number | undefined
}

/** A page; `nextSeq` is there when not all records could be looked at, even when the page is not full. */
export interface AuditTextPage {
  readonly records: readonly AuditHead[]
  readonly nextSeq?: number | undefined
}

/** What a part of the chain is worth. */
export interface ChainCheck {
  /** The last link that was right. */
  readonly end: ChainEnd
  readonly checked: number
  /** The first record that is wrong, with a sentence that says why. */
  readonly broken?: { readonly seq: number; readonly problem: string } | undefined
  /** Links asked for by their places, as far as they were passed. */
  readonly links: readonly ChainEnd[]
}

/** How large the trail is. */
export interface AuditSize {
  readonly firstSeq: number
  readonly endSeq: number
  /** What the store takes, indexes and its other records included, without what deleted records have left. */
  readonly bytes: number
}

/** Reads the trail. */
export interface AuditReader {
  /** One record, or undefined. */
  find(seq: number): Promise<AuditRecord | undefined>
  page(query: AuditPageQuery): Promise<readonly AuditHead[]>
  textPage(query: AuditTextQuery): Promise<AuditTextPage>
  /** The records of some places, in the order of the places. */
  bodies(seqs: readonly number[]): Promise<readonly Uint8Array[]>
  /** Follows the chain from a link over at most `limit` records. */
  check(from: ChainEnd, limit: number, links: readonly number[]): Promise<ChainCheck>
  /** All checkpoints from a place on, in order. */
  checkpoints(fromSeq: number): Promise<readonly AuditCheckpoint[]>
  /** The newest checkpoint. */
  lastCheckpoint(): Promise<AuditCheckpoint | undefined>
  end(): Promise<ChainEnd>
  /** The applications that records name or once named, each once. */
  applications(limit: number): Promise<readonly string[]>
  /** How many of the newest records free text does not find yet. */
  unindexed(): Promise<number>
  size(): Promise<AuditSize>
  /** The last record that may go when those go that were stored before a time, 0 when there is none: where whole months go, the last of one. */
  lastRemovable(recordedMs: number): Promise<number>
}
