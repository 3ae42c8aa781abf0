import type { Database } from 'better-sqlite3'
import type { AuditAppender, AuditEntry, AuditReceipt } from '../../ports/audit-store.js'
import { packBody } from '../../tables/packed-body.js'
import { chainHash } from '../../trail/audit-chain.js'
import { columnText, toLinkedRow } from '../../trail/linked-row.js'
import type { LinkedRow, StoredEnd } from '../../trail/audit-chain.js'
import { selectEnd } from './audit-end.js'
import type { EventIds } from './audit-event-ids.js'
import type { CachingContext } from '../calls/execute-batch.js'

const INSERT = `
  insert into audit (seq, time_ms, recorded_ms, source, kind, application, pipeline, execution_id, stage, user, status,
    origin, event_id, body_bytes, hash, body)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Appends records to the trail on a connection that writes. */
export function makeAuditAppender(
  database: Database,
  eventIds: EventIds,
  now: () => number,
): AuditAppender & CachingContext {
  const insert = database.prepare(INSERT)
  const readEnd = selectEnd(database)
  let end: StoredEnd | undefined
  const append = (entry: AuditEntry): AuditReceipt => {
    const eventId = columnText(entry.eventId)
    const kept = eventId === null ? undefined : eventIds.find(eventId)
    if (kept !== undefined) return { seq: kept, isNew: false }
    end ??= readEnd()
    const row = toLinkedRow(end.seq + 1, Math.max(now(), end.recordedMs), entry)
    const body = packBody(entry.body)
    const hash = chainHash(end.hash, row, body)
    insert.run(...inOrder(row), hash, body)
    if (eventId !== null) eventIds.note(eventId, row.seq)
    end = { seq: row.seq, recordedMs: row.recorded_ms, hash }
    return { seq: row.seq, isNew: true }
  }
  return {
    append: (entry) => Promise.resolve(append(entry)),
    clearCaches: () => {
      end = undefined
    },
  }
}

/** Bound by place: names would be looked up one by one. */
function inOrder(row: LinkedRow): (string | number | null)[] {
  return [
    row.seq,
    row.time_ms,
    row.recorded_ms,
    row.source,
    row.kind,
    row.application,
    row.pipeline,
    row.execution_id,
    row.stage,
    row.user,
    row.status,
    row.origin,
    row.event_id,
    row.body_bytes,
  ]
}
