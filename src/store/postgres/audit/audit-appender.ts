import { DatabaseError } from 'pg'
import type { AuditAppender, AuditEntry, AuditReceipt } from '../../ports/audit-store.js'
import { packBody } from '../../tables/packed-body.js'
import { chainHash, LINKED_COLUMNS } from '../../trail/audit-chain.js'
import { columnText, toLinkedRow } from '../../trail/linked-row.js'
import type { Queries } from '../engine/session.js'
import { first, run } from '../engine/statements.js'
import { wordVector } from './search-words.js'
import { EventIsStored } from './trail-state.js'
import type { LinkedRecord, TrailState } from './trail-state.js'

/** Appends records to the trail in a transaction. */
export interface PostgresAppender extends AuditAppender {
  /** Writes the appended records. Call it before a read of the trail and before the commit. */
  flush(): Promise<void>
  /** Raises `EventIsStored` if a pending event was assumed to be new and is not. */
  prove(): Promise<void>
}

/** Highest number of records in one insert. */
const MAX_PENDING = 200
const MAX_PENDING_BYTES = 4 * 1024 * 1024
const COLUMN_TYPES: Readonly<Partial<Record<(typeof LINKED_COLUMNS)[number], string>>> = {
  seq: 'int8',
  time_ms: 'int8',
  recorded_ms: 'int8',
  body_bytes: 'int4',
}
const COLUMNS = LINKED_COLUMNS.map((name) => `"${name}"`).join(', ')
const ARRAYS = LINKED_COLUMNS.map((name, index) => `$${index + 1}::${COLUMN_TYPES[name] ?? 'text'}[]`).join(
  ', ',
)
const REST = [1, 2, 3].map((place) => `$${LINKED_COLUMNS.length + place}`)
const LINKED = `unnest(${ARRAYS}, ${REST[0] ?? ''}::bytea[], ${REST[1] ?? ''}::bytea[], ${REST[2] ?? ''}::text[])
    as linked (${COLUMNS}, hash, body, words)`
const INSERT = `with ids as (
    insert into audit_event_ids (event_id, seq)
    select event_id, seq from unnest($${placeOf('event_id')}::text[], $${placeOf('seq')}::int8[]) as kept (event_id, seq)
    where event_id is not null)
  insert into audit (${COLUMNS}, hash, body, words) select ${COLUMNS}, hash, body, words::tsvector from ${LINKED}`
const EVENT_ONCE = 'audit_event_ids_pkey'

/**
 * Links each record to the previous one immediately, and writes many together. Repeated events are
 * looked up one by one, or detected when they are written (`TrailState.isTrusting`).
 */
export function makeAuditAppender(queries: Queries, state: TrailState): PostgresAppender {
  const prove = async (): Promise<void> => {
    if (state.isTrusting) await proveEvents(queries, [...state.pendingEvents.keys()])
  }
  const flush = async (): Promise<void> => {
    const records = state.takePending()
    if (records.length > 0) await insert(queries, records)
  }
  const append = async (entry: AuditEntry): Promise<AuditReceipt> => {
    const eventId = columnText(entry.eventId)
    const kept = eventId === null ? undefined : await findEvent(queries, state, eventId)
    if (kept !== undefined) return { seq: kept, isNew: false }
    const row = toLinkedRow(state.end.seq + 1, Math.max(state.nowMs, state.end.recordedMs), entry)
    const body = packBody(entry.body)
    const hash = chainHash(state.end.hash, row, body)
    const words = wordVector(Buffer.from(entry.body.buffer, entry.body.byteOffset, entry.body.byteLength))
    state.pending.push({ row, hash, body, words })
    state.end = { seq: row.seq, recordedMs: row.recorded_ms, hash }
    if (eventId !== null) state.pendingEvents.set(eventId, row.seq)
    state.pendingBytes += body.byteLength + words.length
    if (state.pending.length >= MAX_PENDING || state.pendingBytes >= MAX_PENDING_BYTES) await flush()
    return { seq: row.seq, isNew: true }
  }
  return { append, flush, prove }
}

async function findEvent(queries: Queries, state: TrailState, eventId: string): Promise<number | undefined> {
  const pending = state.pendingEvents.get(eventId)
  if (pending !== undefined || state.isTrusting) return pending
  return (
    await first<{ seq: number }>(queries, 'select seq from audit_event_ids where event_id = $1', [eventId])
  )?.seq
}

/** Raises `EventIsStored` if one of the events is already stored. */
async function proveEvents(queries: Queries, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return
  const text = 'select seq from audit_event_ids where event_id = any($1) limit 1'
  if ((await first(queries, text, [eventIds])) !== undefined) throw new EventIsStored()
}

/** Raises `EventIsStored` if one of the events is already stored. */
async function insert(queries: Queries, records: readonly LinkedRecord[]): Promise<void> {
  const columns = LINKED_COLUMNS.map((name) => records.map(({ row }) => row[name]))
  try {
    await run(queries, INSERT, [
      ...columns,
      records.map(({ hash }) => Buffer.from(hash)),
      records.map(({ body }) => Buffer.from(body)),
      records.map(({ words }) => words),
    ])
  } catch (raw) {
    if (raw instanceof DatabaseError && raw.constraint === EVENT_ONCE) throw new EventIsStored()
    throw raw
  }
}

function placeOf(column: (typeof LINKED_COLUMNS)[number]): number {
  return LINKED_COLUMNS.indexOf(column) + 1
}
