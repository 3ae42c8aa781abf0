import type { Database } from 'better-sqlite3'

import type { CachingContext } from '../calls/write-connection.js'
import { makeEventIds } from './audit-event-ids.js'
import type { EventIds } from './audit-event-ids.js'
import { makeTextIndexer, makeTextMerger, makeTextRemover } from './audit-text-index.js'
import { makeTextParts } from './audit-text-parts.js'
import { AUDIT_TEXT_COLUMNS } from '../../ports/audit-store.js'
import type { AuditTextColumn } from '../../ports/audit-store.js'
import { HEAD_COLUMNS, TEXT_COLUMN_NAMES } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'

/**
 * Highest number of cached value ids; then the cache is cleared. Most values are executions, which
 * soon end.
 */
const MAX_REMEMBERED = 10_000

/**
 * Indexes of the trail. They are updated after records are stored, so that appending a record is
 * cheap.
 */
export interface TrailIndexes extends CachingContext {
  readonly columns: ColumnIndex
  readonly eventIds: EventIds
  /**
   * Adds at most `limit` records, with bodies of about `maxBytes`, to the text index. Returns their
   * number.
   */
  readonly indexText: (limit: number, maxBytes: number) => number
  /**
   * Merges segments of the newest text index for about `maxMs`, writing about `pages` pages.
   * Returns whether there may be more to merge.
   */
  readonly mergeText: (pages: number, maxMs: number) => boolean
  /** Removes deleted records from the text index. */
  readonly removeText: (seqs: readonly number[]) => void
}

/** Makes the indexes on the connection that writes. */
export function makeTrailIndexes(database: Database): TrailIndexes {
  const columns = makeColumnIndex(database)
  const eventIds = makeEventIds(database)
  const textParts = makeTextParts(database)
  const mergePart = makeTextMerger(database)
  return {
    columns,
    eventIds,
    indexText: makeTextIndexer(database, textParts),
    mergeText: (pages, maxMs) => {
      const newest = textParts.list()[0]
      return newest !== undefined && mergePart(newest.part, pages, maxMs)
    },
    removeText: makeTextRemover(database, textParts),
    clearCaches: () => {
      columns.clearCaches()
      eventIds.clearCaches()
    },
  }
}

interface Posting {
  readonly valueId: number
  readonly timeMs: number
  readonly seq: number
}

/**
 * Postings of some records, collected in steps and then inserted in steps, in the order of the
 * index.
 */
interface PendingPostings {
  readonly postings: Posting[]
  /** Number of records, and the first and last of them. */
  records: number
  firstSeq: number
  throughSeq: number
  isComplete: boolean
  inserted: number
}

/** Index of the trail by its columns. */
interface ColumnIndex extends CachingContext {
  /**
   * Collects or inserts about `values` postings of the next `records` records. Returns whether some
   * are left.
   */
  readonly extend: (records: number, values: number) => boolean
  /** Removes deleted records from the index. */
  readonly drop: (rows: readonly AuditHeadRow[]) => void
}

/**
 * Postings of many records are inserted together: the entries of one value then share pages, where
 * an index per column would write a page for every record. Records count as indexed after the last
 * insert.
 */
function makeColumnIndex(database: Database): ColumnIndex {
  const selectNext = database.prepare<[number, number], AuditHeadRow>(
    `select ${HEAD_COLUMNS} from audit
     where seq > max(?, (select columns_seq from audit_progress)) order by seq limit ?`,
  )
  const insert = database.prepare<[number, number, number]>(
    'insert or ignore into audit_postings (value_id, time_ms, seq) values (?, ?, ?)',
  )
  const remove = database.prepare<[number, number, number]>(
    'delete from audit_postings where value_id = ? and time_ms = ? and seq = ?',
  )
  const advance = database.prepare<[number]>('update audit_progress set columns_seq = ?')
  const values = makeValueIds(database)
  const allOf = (rows: readonly AuditHeadRow[]): Posting[] =>
    rows.flatMap((row) => postingsOf(row, values.idOf))
  let pending: PendingPostings | undefined
  const collect = (collected: PendingPostings, limit: number, count: number): void => {
    const wanted = Math.min(limit - collected.records, Math.ceil(count / AUDIT_TEXT_COLUMNS.length))
    const rows = selectNext.all(collected.throughSeq, wanted)
    for (const posting of allOf(rows)) collected.postings.push(posting)
    collected.records += rows.length
    collected.firstSeq = Math.min(collected.firstSeq, rows[0]?.seq ?? Infinity)
    collected.throughSeq = rows.at(-1)?.seq ?? collected.throughSeq
    collected.isComplete = rows.length < wanted || collected.records >= limit
    if (collected.isComplete) collected.postings.sort(inIndexOrder)
  }
  return {
    extend: (limit, count) => {
      pending ??= {
        postings: [],
        records: 0,
        firstSeq: Infinity,
        throughSeq: 0,
        isComplete: false,
        inserted: 0,
      }
      if (!pending.isComplete) collect(pending, limit, count)
      if (!pending.isComplete) return true
      const { postings, throughSeq } = pending
      const next = postings.slice(pending.inserted, pending.inserted + count)
      for (const { valueId, timeMs, seq } of next) insert.run(valueId, timeMs, seq)
      pending.inserted += next.length
      if (pending.inserted < postings.length) return true
      if (pending.records > 0) advance.run(throughSeq)
      pending = undefined
      return false
    },
    drop: (rows) => {
      // Postings of deleted records must not be inserted later.
      if ((rows.at(-1)?.seq ?? 0) >= (pending?.firstSeq ?? 0)) pending = undefined
      for (const { valueId, timeMs, seq } of allOf(rows).sort(inIndexOrder)) remove.run(valueId, timeMs, seq)
    },
    clearCaches: () => {
      pending = undefined
      values.clearCaches()
    },
  }
}

function postingsOf(row: AuditHeadRow, idOf: (column: AuditTextColumn, value: string) => number): Posting[] {
  const postings: Posting[] = []
  for (const column of AUDIT_TEXT_COLUMNS) {
    const value = row[TEXT_COLUMN_NAMES[column]]
    if (typeof value === 'string') {
      postings.push({ valueId: idOf(column, value), timeMs: row.time_ms, seq: row.seq })
    }
  }
  return postings
}

function inIndexOrder(a: Posting, b: Posting): number {
  return a.valueId - b.valueId || a.timeMs - b.timeMs || a.seq - b.seq
}

interface ValueIds {
  readonly idOf: (column: AuditTextColumn, value: string) => number
  readonly clearCaches: () => void
}

function makeValueIds(database: Database): ValueIds {
  const select = database.prepare<[string, string], { id: number }>(
    'select id from audit_values where name = ? and value = ?',
  )
  const insert = database.prepare<[string, string]>('insert into audit_values (name, value) values (?, ?)')
  const known = new Map<string, number>()
  return {
    idOf: (column, value) => {
      const key = `${column}:${value}`
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered
      const id = select.get(column, value)?.id ?? Number(insert.run(column, value).lastInsertRowid)
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.set(key, id)
      return id
    },
    clearCaches: () => known.clear(),
  }
}
