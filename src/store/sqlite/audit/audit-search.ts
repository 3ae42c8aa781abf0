import type { Database } from 'better-sqlite3'

import { AUDIT_TEXT_COLUMNS } from '../../ports/audit-store.js'
import type { AuditFilter, AuditHead, AuditPageQuery, AuditTextColumn } from '../../ports/audit-store.js'
import { makeEventKeys } from './audit-event-keys.js'
import { selectProgress } from './audit-end.js'
import { HEAD_COLUMN_NAMES, HEAD_COLUMNS, TEXT_COLUMN_NAMES, toHead } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'

type Parameters = Record<string, string | number>

/**
 * Returns a function that reads a page from the index by columns, and scans the few records that
 * are not indexed yet.
 */
export function makePageReader(database: Database): (query: AuditPageQuery) => AuditHead[] {
  const readProgress = selectProgress(database)
  const selectValue = database.prepare<[string, string], { id: number }>(
    'select id from audit_values where name = ? and value = ?',
  )
  const eventKeys = makeEventKeys(database)
  const selectOne = database.prepare<[number], AuditHeadRow>(
    `select ${HEAD_COLUMNS} from audit where seq = ?`,
  )
  const selectNewest = database.prepare<[string], { seq: number }>(
    'select seq from audit not indexed where seq > (select keys_seq from audit_progress) and event_id = ?',
  )
  const readAll = (sql: string, parameters: Parameters): AuditHeadRow[] =>
    database.prepare<[Parameters], AuditHeadRow>(sql).all(parameters)

  const readIndexed = (
    query: AuditPageQuery,
    columns: readonly AuditTextColumn[],
    indexedSeq: number,
  ): AuditHeadRow[] => {
    const ids = columns.map((column) => selectValue.get(column, query.filter[column] ?? '')?.id)
    const known = ids.filter((id) => id !== undefined)
    if (known.length < ids.length) return []
    return readAll(indexedSql(query, known.length), {
      ...idParameters(known),
      ...pageParameters(query),
      indexedSeq,
    })
  }
  return (query) => {
    if (query.filter.eventId !== undefined) {
      const seq = eventKeys.find(query.filter.eventId) ?? selectNewest.get(query.filter.eventId)?.seq
      const row = seq === undefined ? undefined : selectOne.get(seq)
      return row !== undefined && matches(row, query) ? [toHead(row)] : []
    }
    const columns = AUDIT_TEXT_COLUMNS.filter((column) => query.filter[column] !== undefined)
    if (columns.length === 0) return readAll(timeSql(query), pageParameters(query)).map(toHead)
    // Some postings of later records may exist already.
    const indexedSeq = readProgress().columnsSeq
    const tail = readAll(tailSql(query, columns), {
      ...columnParameters(query.filter, columns),
      ...pageParameters(query),
      indexedSeq,
    })
    return merge(query, readIndexed(query, columns, indexedSeq), tail).map(toHead)
  }
}

/** Merges two sorted lists into one page. */
function merge({ order, limit }: AuditPageQuery, one: AuditHeadRow[], other: AuditHeadRow[]): AuditHeadRow[] {
  if (other.length === 0) return one
  const sign = order === 'newest_first' ? -1 : 1
  const inOrder = (a: AuditHeadRow, b: AuditHeadRow): number =>
    sign * (a.time_ms - b.time_ms || a.seq - b.seq)
  return [...one, ...other].sort(inOrder).slice(0, limit)
}

/**
 * SQL that scans the postings of the first value, usually the rarest, and joins those of the
 * others.
 */
function indexedSql(query: AuditPageQuery, count: number): string {
  const others = Array.from({ length: count - 1 }, (_, index) => {
    const same = `p${index + 1}.time_ms = p0.time_ms and p${index + 1}.seq = p0.seq`
    return `cross join audit_postings p${index + 1} on p${index + 1}.value_id = @id${index + 1} and ${same}`
  }).join(' ')
  const heads = HEAD_COLUMN_NAMES.map((name) => `audit.${name}`).join(', ')
  return `select ${heads} from audit_postings p0 ${others} cross join audit on audit.seq = p0.seq
    where p0.value_id = @id0 and p0.seq <= @indexedSeq ${timeBounds(query, 'p0.')} ${orderAndLimit(query, 'p0.')}`
}

function tailSql(query: AuditPageQuery, columns: readonly AuditTextColumn[]): string {
  const equal = columns.map((column) => `and ${TEXT_COLUMN_NAMES[column]} = @${column}`).join(' ')
  return `select ${HEAD_COLUMNS} from audit not indexed where seq > @indexedSeq ${equal}
    ${timeBounds(query, '')} ${orderAndLimit(query, '')}`
}

function timeSql(query: AuditPageQuery): string {
  return `select ${HEAD_COLUMNS} from audit indexed by audit_by_time where true
    ${timeBounds(query, '')} ${orderAndLimit(query, '')}`
}

function timeBounds({ filter, after, order }: AuditPageQuery, prefix: string): string {
  const time = `${prefix}time_ms`
  const behind = order === 'newest_first' ? '<' : '>'
  return [
    filter.fromMs === undefined ? '' : `and ${time} >= @fromMs`,
    filter.toMs === undefined ? '' : `and ${time} < @toMs`,
    after === undefined ? '' : `and (${time}, ${prefix}seq) ${behind} (@afterMs, @afterSeq)`,
  ].join(' ')
}

function orderAndLimit({ order }: AuditPageQuery, prefix: string): string {
  const direction = order === 'newest_first' ? 'desc' : 'asc'
  return `order by ${prefix}time_ms ${direction}, ${prefix}seq ${direction} limit @limit`
}

function pageParameters({ filter, after, limit }: AuditPageQuery): Parameters {
  return {
    limit,
    ...(filter.fromMs !== undefined && { fromMs: filter.fromMs }),
    ...(filter.toMs !== undefined && { toMs: filter.toMs }),
    ...(after !== undefined && { afterMs: after.timeMs, afterSeq: after.seq }),
  }
}

function idParameters(ids: readonly number[]): Parameters {
  return Object.fromEntries(ids.map((id, index) => [`id${index}`, id]))
}

function columnParameters(filter: AuditFilter, columns: readonly AuditTextColumn[]): Parameters {
  return Object.fromEntries(columns.map((column) => [column, filter[column] ?? '']))
}

/** Whether a record matches a query. */
export function matches(row: AuditHeadRow, { filter, after, order }: Omit<AuditPageQuery, 'limit'>): boolean {
  const { fromMs = -Infinity, toMs = Infinity } = filter
  if (row.time_ms < fromMs || row.time_ms >= toMs) return false
  if (filter.eventId !== undefined && filter.eventId !== row.event_id) return false
  const isWanted = AUDIT_TEXT_COLUMNS.every((column) => {
    const wanted = filter[column]
    return wanted === undefined || row[TEXT_COLUMN_NAMES[column]] === wanted
  })
  if (!isWanted || after === undefined) return isWanted
  const distance = row.time_ms - after.timeMs || row.seq - after.seq
  return order === 'newest_first' ? distance < 0 : distance > 0
}
