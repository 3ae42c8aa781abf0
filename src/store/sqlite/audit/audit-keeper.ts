import type { Database } from 'better-sqlite3'
import type { Kysely } from 'kysely'
import type {
  AuditKeeper,
  AuditAppender,
  AuditEntry,
  AuditReceipt,
  AuditReader,
  ChainCheck,
  ChainEnd,
} from '../../ports/audit-store.js'
import { HEAD_COLUMNS } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'
import { packBody } from '../../tables/packed-body.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { chainHash, LINKED_BLOB } from '../../trail/audit-chain.js'
import type { LinkedRow, StoredEnd } from '../../trail/audit-chain.js'
import { ChainWalk } from '../../trail/follow-chain.js'
import { columnText, toLinkedRow } from '../../trail/linked-row.js'
import { addCheckpoint, makeTrailQueries, requireRetentionCheckpoint } from '../../trail/trail-queries.js'
import type { TrailQueries } from '../../trail/trail-queries.js'
import type { CachingContext } from '../calls/write-connection.js'
import { selectEnd, selectProgress } from './audit-end.js'
import type { EventIds } from './audit-event-ids.js'
import { makePageReader } from './audit-search.js'
import { makeTextPageReader } from './audit-text-index.js'
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

/** Reads the trail on any connection. */
export function makeAuditReader(database: Database, queries: TrailQueries): AuditReader {
  const selectApplications = database
    .prepare<[number], string>(
      "select value from audit_values where name = 'application' order by value limit ?",
    )
    .pluck()
  const readEnd = selectEnd(database)
  const readProgress = selectProgress(database)
  const readPage = makePageReader(database)
  const readTextPage = makeTextPageReader(database)
  const checkChain = makeChainCheck(database)
  const { find, bodies, headsAfter, checkpoints, lastCheckpoint } = queries
  return {
    ...{ find, bodies, headsAfter, checkpoints, lastCheckpoint },
    page: (query) => Promise.resolve(readPage(query)),
    textPage: (query) => Promise.resolve(readTextPage(query)),
    applications: (limit) => Promise.resolve(selectApplications.all(limit)),
    check: (from, limit, links) => Promise.resolve(checkChain(from, limit, links)),
    end: () => {
      const { seq, hash } = readEnd()
      return Promise.resolve({ seq, hash: Buffer.from(hash).toString('hex') })
    },
    unindexed: () => {
      const { textSeq, endSeq } = readProgress()
      return Promise.resolve(endSeq - textSeq)
    },
    size: async () => {
      const endSeq = readEnd().seq
      return { firstSeq: (await queries.firstSeq()) ?? endSeq + 1, endSeq, bytes: usedBytes(database) }
    },
    lastRemovable: (recordedMs) => queries.lastStoredBefore(recordedMs, readEnd().seq),
  }
}

/**
 * Returns a function that checks the chain from a link over at most `limit` records, and returns
 * the links at the given positions.
 */
function makeChainCheck(
  database: Database,
): (from: ChainEnd, limit: number, positions: readonly number[]) => ChainCheck {
  const select = database
    .prepare<[number, number], [number, Buffer | null]>(
      `select seq, ${LINKED_BLOB} from audit where seq > ? order by seq limit ?`,
    )
    .raw(true)
  return (from, limit, positions) => {
    const walk = new ChainWalk(from, positions)
    // A record with an unexpected null has no blob, and an empty one matches no link.
    for (const [seq, blob] of select.iterate(from.seq, limit)) walk.add(seq, blob ?? Buffer.alloc(0))
    return walk.check()
  }
}

function usedBytes(database: Database): number {
  const pragma = (name: string): number => Number(database.pragma(name, { simple: true }))
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}
