import type { Generated } from 'kysely'
import type { AuditHead, AuditSource, AuditTextColumn } from '../ports/audit-store.js'

/** A record of the trail without its body. */
export interface AuditHeadRow {
  seq: number
  time_ms: number
  recorded_ms: number
  source: string
  kind: string
  application: string | null
  pipeline: string | null
  execution_id: string | null
  stage: string | null
  user: string | null
  status: string | null
  origin: string | null
  event_id: string | null
  /** Size of the body before deflation. */
  body_bytes: number
  /** SHA-256 of the previous link and this record. */
  hash: Uint8Array
}

/** The audit trail's own table, as Kysely sees it. */
export interface AuditTable extends AuditHeadRow {
  /** The deflated body. */
  body: Uint8Array
}

/** The checkpoints of the trail, as Kysely sees them. */
export interface AuditCheckpointTable {
  id: Generated<number>
  seq: number
  hash: Uint8Array
  at_ms: number
  reason: string
  key_id: string | null
  signature: string | null
}

/** Columns of a record without its body. */
export const HEAD_COLUMN_NAMES = [
  'seq',
  'time_ms',
  'recorded_ms',
  'source',
  'kind',
  'application',
  'pipeline',
  'execution_id',
  'stage',
  'user',
  'status',
  'origin',
  'event_id',
  'body_bytes',
  'hash',
] as const satisfies readonly (keyof AuditHeadRow)[]
/** `HEAD_COLUMN_NAMES` as a list for SQL. */
export const HEAD_COLUMNS = HEAD_COLUMN_NAMES.join(', ')

/** Table columns of the searchable columns. */
export const TEXT_COLUMN_NAMES: Readonly<Record<AuditTextColumn, keyof AuditHeadRow>> = {
  executionId: 'execution_id',
  pipeline: 'pipeline',
  application: 'application',
  user: 'user',
  stage: 'stage',
  kind: 'kind',
  status: 'status',
  source: 'source',
}

/** Maps a row to a record without its body. */
export function toHead(row: AuditHeadRow): AuditHead {
  return {
    seq: row.seq,
    timeMs: row.time_ms,
    recordedMs: row.recorded_ms,
    source: row.source as AuditSource,
    kind: row.kind,
    application: row.application ?? undefined,
    pipeline: row.pipeline ?? undefined,
    executionId: row.execution_id ?? undefined,
    stage: row.stage ?? undefined,
    user: row.user ?? undefined,
    status: row.status ?? undefined,
    origin: row.origin ?? undefined,
    eventId: row.event_id ?? undefined,
    bodyBytes: row.body_bytes,
    hash: Buffer.from(row.hash).toString('hex'),
  }
}
