/** The part of the service that an audit record is about. */
export type AuditSource = 'event' | 'gate' | 'policy' | 'analysis' | 'registry' | 'webhook' | 'admin'

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

/** One record of the trail. */
export interface AuditRecord extends AuditColumns {
  /** Its place in the chain: 1, 2, 3, … without gaps. */
  readonly seq: number
  readonly eventId?: string | undefined
  readonly body: Uint8Array
  /** The record's link of the chain, 64 hex digits. */
  readonly hash: string
}

/** What became of an entry: its place, and whether its event was kept before. */
export interface AuditReceipt {
  readonly seq: number
  readonly isNew: boolean
}

/** Appends to the trail; nothing in it is ever changed. */
export interface AuditAppender {
  append(entry: AuditEntry): Promise<AuditReceipt>
}

/** Reads the trail. */
export interface AuditReader {
  /** One record, or undefined. */
  find(seq: number): Promise<AuditRecord | undefined>
}
