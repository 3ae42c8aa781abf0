import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type { AuditKeeper, AuditAppender, AuditEntry, AuditReceipt } from '../../ports/audit-store.js'
import { HEAD_COLUMNS } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { packBody } from '../../tables/packed-body.js'
import { chainHash } from '../../trail/audit-chain.js'
import type { LinkedRow, StoredEnd } from '../../trail/audit-chain.js'
import { columnText, toLinkedRow } from '../../trail/linked-row.js'
import { addCheckpoint, makeTrailQueries, requireRetentionCheckpoint } from '../../trail/trail-queries.js'
import type { CachingContext } from '../calls/write-connection.js'
import { selectEnd } from './audit-end.js'
import type { EventIds } from './audit-event-ids.js'
import type { TrailIndexes } from './trail-indexes.js'

/** The trail on a connection that writes. `now` returns milliseconds since the epoch. */
export function makeAuditKeeper(
  database: Database,
  db: Kysely<ServiceDatabase>,
  trailIndexes: TrailIndexes,
  now: () => number,
): AuditKeeper & CachingContext {
  const appender = makeAuditAppender(database, trailIndexes.eventIds, now)
  const { find } = makeTrailQueries(db)
  const readEnd = selectEnd(database)
  const deletePrefix = makePrefixDeleter(database, trailIndexes)
  return {
    ...appender,
    end: () => {
      const { seq, hash } = readEnd()
      return Promise.resolve({ seq, hash: Buffer.from(hash).toString('hex') })
    },
    find,
    addCheckpoint: (checkpoint) => addCheckpoint(db, checkpoint),
    deleteThrough: async (seq, limit) => {
      await requireRetentionCheckpoint(db, seq)
      const removed = deletePrefix(seq, limit)
      return { removed, isMoreLeft: removed === limit }
    },
  }
}

const INSERT = `
  insert into audit (seq, time_ms, recorded_ms, source, kind, application, pipeline, execution_id, stage, user, status,
    origin, event_id, body_bytes, hash, body)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** Appends records to the trail on a connection that writes. */
function makeAuditAppender(
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

/** Values in the order of the columns, since binding by name is slower. */
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

/**
 * Returns a function that deletes at most `limit` of the oldest records up to `throughSeq`, and
 * returns how many.
 */
function makePrefixDeleter(
  database: Database,
  { columns, eventIds, removeText }: TrailIndexes,
): (throughSeq: number, limit: number) => number {
  const oldest = database.prepare<[number, number], AuditHeadRow>(
    `select ${HEAD_COLUMNS} from audit where seq <= ? order by seq limit ?`,
  )
  const allow = database.prepare<[number]>('insert into audit_retention values (?)')
  const forbid = database.prepare('delete from audit_retention')
  const remove = database.prepare<[number]>('delete from audit where seq <= ?')
  return (throughSeq, limit) => {
    const rows = oldest.all(throughSeq, limit)
    const last = rows.at(-1)
    if (last === undefined) return 0
    columns.drop(rows)
    for (const { event_id: eventId } of rows) if (eventId !== null) eventIds.drop(eventId)
    removeText(rows.map(({ seq }) => seq))
    allow.run(throughSeq)
    remove.run(last.seq)
    forbid.run()
    return rows.length
  }
}
