import type {
  AuditReader,
  ChainCheck,
  ChainEnd,
  AuditFilter,
  AuditHead,
  AuditPageQuery,
  AuditTextPage,
  AuditTextQuery,
} from '../../ports/audit-store.js'
import { TRAIL_START, END_OF_COLUMN, LINKED_COLUMNS, NO_VALUE } from '../../trail/audit-chain.js'
import type { StoredEnd } from '../../trail/audit-chain.js'
import { ChainWalk } from '../../trail/follow-chain.js'
import type { TrailQueries } from '../../trail/trail-queries.js'
import type { Queries } from '../engine/session.js'
import { all, first } from '../engine/statements.js'
import { monthOf } from '../months/month.js'
import type { Part } from '../months/month.js'
import { listParts } from '../months/monthly-table.js'
import { TRAIL } from './trail-months.js'
import { AUDIT_TEXT_COLUMNS } from '../../ports/audit-store.js'
import { HEAD_COLUMN_NAMES, TEXT_COLUMN_NAMES, toHead } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'
import { Conditions } from '../engine/conditions.js'
import { wordQuery } from './search-words.js'

/** Quoted column names, since `user` is a keyword of PostgreSQL. */
const HEADS = HEAD_COLUMN_NAMES.map((name) => `"${name}"`).join(', ')

/** Reads the trail. */
export function makeAuditReader(
  queries: Queries,
  { firstSeq, lastStoredBefore, find, bodies, headsAfter, checkpoints, lastCheckpoint }: TrailQueries,
): AuditReader {
  return {
    find,
    bodies,
    headsAfter,
    checkpoints,
    lastCheckpoint,
    page: (query) => readPage(queries, query),
    textPage: (query) => readTextPage(queries, query),
    check: (from, limit, positions) => checkChain(queries, from, limit, positions),
    end: async () => {
      const { seq, hash } = await readEnd(queries)
      return { seq, hash: Buffer.from(hash).toString('hex') }
    },
    applications: (limit) => readApplications(queries, limit),
    // Records are found as soon as they are stored.
    unindexed: () => Promise.resolve(0),
    size: async () => {
      const { seq: endSeq } = await readEnd(queries)
      return { firstSeq: (await firstSeq()) ?? endSeq + 1, endSeq, bytes: await usedBytes(queries) }
    },
    lastRemovable: async (recordedMs) => {
      const { seq: endSeq } = await readEnd(queries)
      const parts = await listParts(queries, TRAIL.name)
      return await lastStoredBefore(wholeMonths(parts, recordedMs), endSeq)
    },
  }
}

/**
 * Returns the time up to which records may go: the start of a month, or `timeMs` itself within the
 * part from before the trail had months.
 */
function wholeMonths(parts: readonly Part[], timeMs: number): number {
  const before = parts.find(({ fromMs }) => fromMs === undefined)
  return before !== undefined && timeMs < before.toMs ? timeMs : monthOf(TRAIL.name, timeMs).fromMs
}

/**
 * Leaps from one distinct value of the index to the next, since many records have few applications.
 */
async function readApplications(queries: Queries, limit: number): Promise<readonly string[]> {
  const text = `with recursive names (name) as (
      (select application from audit where application is not null order by application limit 1)
      union all
      select (select application from audit where application > names.name order by application limit 1)
      from names where names.name is not null)
    select name from names where name is not null limit $1`
  return (await all<{ name: string }>(queries, text, [limit])).map(({ name }) => name)
}

/**
 * Query for the newest record, among the partitions with records stored since a time in epoch
 * milliseconds.
 */
export function newestRecord(sinceMs: number): string {
  return `select seq, recorded_ms as "recordedMs", hash from audit where recorded_ms >= ${sinceMs} order by seq desc limit 1`
}

/**
 * Returns the end of the trail: its newest record, or the last checkpoint if retention removed all
 * records.
 */
export async function readEnd(queries: Queries): Promise<StoredEnd> {
  const checkpoint =
    'select seq, at_ms as "recordedMs", hash from audit_checkpoints order by seq desc, id desc limit 1'
  type EndRow = StoredEnd & Record<string, unknown>
  const newest = await first<EndRow>(queries, newestRecord(0))
  return newest ?? (await first<EndRow>(queries, checkpoint)) ?? TRAIL_START
}

async function usedBytes(queries: Queries): Promise<number> {
  const size = await first<{ bytes: number | null }>(
    queries,
    `select sum(pg_total_relation_size(oid))::int8 as bytes from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'decision_packages'
       and not exists (select from pg_inherits where inhrelid = oid and inhparent = 'decisions'::regclass)`,
  )
  return size?.bytes ?? 0
}

/**
 * The stored link and all data that it covers, as one value: the columns as text, each followed by
 * a separator, then the stored body.
 */
const COLUMNS = LINKED_COLUMNS.map((name) => `coalesce("${name}"::text, chr(${NO_VALUE}))`)
const LINKED = `hash || convert_to(concat_ws(chr(${END_OF_COLUMN}), ${COLUMNS.join(', ')}, ''), 'UTF8') || body`

/**
 * Checks the chain from a link over at most `limit` records, and returns the links at the given
 * positions.
 */
async function checkChain(
  queries: Queries,
  from: ChainEnd,
  limit: number,
  positions: readonly number[],
): Promise<ChainCheck> {
  const walk = new ChainWalk(from, positions)
  const text = `select seq, ${LINKED} from audit where seq > ${whole(from.seq)} order by seq limit ${whole(limit)}`
  await queries.copyOut(`copy (${text}) to stdout (format binary)`, ([seq, blob]) => {
    if (seq !== undefined && blob !== undefined) walk.add(Number(seq.readBigInt64BE()), blob)
  })
  return walk.check()
}

/** Formats a number for COPY, which accepts no parameters. */
function whole(value: number): string {
  return String(Math.max(0, Math.trunc(value)))
}

type HeadRow = AuditHeadRow & Record<string, unknown>

/** A page in the order of time. */
async function readPage(
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
async function readTextPage(
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
