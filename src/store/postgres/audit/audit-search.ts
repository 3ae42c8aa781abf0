import { AUDIT_TEXT_COLUMNS } from '../../ports/audit-store.js'
import type {
  AuditFilter,
  AuditHead,
  AuditPageQuery,
  AuditTextPage,
  AuditTextQuery,
} from '../../ports/audit-store.js'
import { HEAD_COLUMN_NAMES, TEXT_COLUMN_NAMES, toHead } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'
import { Conditions } from '../engine/conditions.js'
import type { Queries } from '../engine/session.js'
import { all } from '../engine/statements.js'
import { wordQuery } from './search-words.js'

/** Quoted column names, since `user` is a keyword of PostgreSQL. */
const HEADS = HEAD_COLUMN_NAMES.map((name) => `"${name}"`).join(', ')

type HeadRow = AuditHeadRow & Record<string, unknown>

/** A page in the order of time. */
export async function readPage(
  queries: Queries,
  { filter, order, limit, after }: AuditPageQuery,
): Promise<AuditHead[]> {
  const conditions = conditionsOf(filter)
  const isDescending = order === 'newest_first'
  if (after !== undefined && isDescending) conditions.add('(time_ms, seq) < (?, ?)', after.timeMs, after.seq)
  if (after !== undefined && !isDescending) conditions.add('(time_ms, seq) > (?, ?)', after.timeMs, after.seq)
  const direction = isDescending ? 'desc' : 'asc'
  const text = `select ${HEADS} from audit where ${conditions.toString()}
    order by time_ms ${direction}, seq ${direction} limit ${limit}`
  return (await all<HeadRow>(queries, text, conditions.values)).map(toHead)
}

/** A page of the records whose bodies contain all words, newest first. */
export async function readTextPage(
  queries: Queries,
  { filter, words, limit, beforeSeq }: AuditTextQuery,
): Promise<AuditTextPage> {
  const conditions = conditionsOf(filter)
  const wanted = wordQuery(words)
  // The query has no letters or digits, so no record matches.
  if (wanted === '') return { records: [] }
  conditions.add('words @@ ?::tsquery', wanted)
  if (beforeSeq !== undefined) conditions.add('seq < ?', beforeSeq)
  const text = `select ${HEADS} from audit where ${conditions.toString()} order by seq desc limit ${limit}`
  const records = (await all<HeadRow>(queries, text, conditions.values)).map(toHead)
  const last = records.at(-1)
  return records.length < limit || last === undefined ? { records } : { records, nextSeq: last.seq }
}

function conditionsOf(filter: AuditFilter): Conditions {
  const conditions = new Conditions()
  const { eventId, fromMs, toMs } = filter
  if (eventId !== undefined)
    conditions.add('seq = (select seq from audit_event_ids where event_id = ?)', eventId)
  for (const column of AUDIT_TEXT_COLUMNS) {
    const wanted = filter[column]
    if (wanted !== undefined) conditions.add(`"${TEXT_COLUMN_NAMES[column]}" = ?`, wanted)
  }
  if (fromMs !== undefined) conditions.add('time_ms >= ?', Math.ceil(fromMs))
  if (toMs !== undefined) conditions.add('time_ms < ?', Math.ceil(toMs))
  return conditions
}
