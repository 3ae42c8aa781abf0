import { AppError } from '../../../errors/app-error.js'
import type { AuditReader, AuditRecord, AuditSize } from '../../ports/audit-store.js'
import { unpackBody } from '../../tables/packed-body.js'
import { toHead } from '../../tables/audit-table.js'
import type { AuditTable } from '../../tables/audit-table.js'
import { TRAIL_START } from '../../trail/audit-chain.js'
import type { StoredEnd } from '../../trail/audit-chain.js'
import { lastSeqBefore } from '../../trail/last-seq-before.js'
import { monthOf } from '../months/month.js'
import type { Part } from '../months/month.js'
import { listParts } from '../months/monthly-table.js'
import type { Queries } from '../engine/session.js'
import { all, first } from '../engine/statements.js'
import { checkpointReader } from './audit-checkpoints.js'
import { readPage, readTextPage } from './audit-search.js'
import { checkChain } from './audit-verifier.js'
import { TRAIL } from './trail-months.js'

type RecordRow = AuditTable & Record<string, unknown>

/** Reads the trail. */
export function makeAuditReader(queries: Queries): AuditReader {
  return {
    ...checkpointReader(queries),
    find: (seq) => findRecord(queries, seq),
    page: (query) => readPage(queries, query),
    textPage: (query) => readTextPage(queries, query),
    bodies: (seqs) => readBodies(queries, seqs),
    check: (from, limit, places) => checkChain(queries, from, limit, places),
    end: async () => {
      const { seq, hash } = await readEnd(queries)
      return { seq, hash: Buffer.from(hash).toString('hex') }
    },
    applications: (limit) => readApplications(queries, limit),
    // Records are found as soon as they are kept.
    unindexed: () => Promise.resolve(0),
    size: () => readSize(queries),
    lastRemovable: async (recordedMs) => {
      const { seq: endSeq } = await readEnd(queries)
      const parts = await listParts(queries, TRAIL.name)
      const text = 'select seq, recorded_ms as "recordedMs" from audit where seq >= $1 order by seq limit 1'
      return await lastSeqBefore(
        (seq) => first<{ seq: number; recordedMs: number }>(queries, text, [seq]),
        wholeMonths(parts, recordedMs),
        endSeq,
      )
    },
  }
}

/** Where the months end that may go with a time; what was kept before there were months goes record by record. */
function wholeMonths(parts: readonly Part[], timeMs: number): number {
  const before = parts.find(({ fromMs }) => fromMs === undefined)
  return before !== undefined && timeMs < before.toMs ? timeMs : monthOf(TRAIL.name, timeMs).fromMs
}

/** From one value of the index to the next: there are few of them in many records. */
async function readApplications(queries: Queries, limit: number): Promise<readonly string[]> {
  const text = `with recursive names (name) as (
      (select application from audit where application is not null order by application limit 1)
      union all
      select (select application from audit where application > names.name order by application limit 1)
      from names where names.name is not null)
    select name from names where name is not null limit $1`
  return (await all<{ name: string }>(queries, text, [limit])).map(({ name }) => name)
}

/** One record, or undefined. */
export async function findRecord(queries: Queries, seq: number): Promise<AuditRecord | undefined> {
  const row = await first<RecordRow>(queries, 'select * from audit where seq = $1', [seq])
  return row && { ...toHead(row), body: unpackBody(row.body, row.body_bytes) }
}

/** The newest record, as the end of the trail; one that was stored before a time, in milliseconds, is not looked for. */
export function newestRecord(sinceMs: number): string {
  return `select seq, recorded_ms as "recordedMs", hash from audit where recorded_ms >= ${sinceMs} order by seq desc limit 1`
}

/** The end of the trail: its newest record or, when retention took all, what it left instead. */
export async function readEnd(queries: Queries): Promise<StoredEnd> {
  const checkpoint =
    'select seq, at_ms as "recordedMs", hash from audit_checkpoints order by seq desc, id desc limit 1'
  type EndRow = StoredEnd & Record<string, unknown>
  const newest = await first<EndRow>(queries, newestRecord(0))
  return newest ?? (await first<EndRow>(queries, checkpoint)) ?? TRAIL_START
}

async function readBodies(queries: Queries, seqs: readonly number[]): Promise<Uint8Array[]> {
  type BodyRow = Pick<AuditTable, 'seq' | 'body' | 'body_bytes'> & Record<string, unknown>
  const rows = await all<BodyRow>(queries, 'select seq, body, body_bytes from audit where seq = any($1)', [
    seqs,
  ])
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  return seqs.map((seq) => {
    const row = bySeq.get(seq)
    if (row === undefined) throw new AppError('not_found', `audit record ${seq} is not there any more`)
    return unpackBody(row.body, row.body_bytes)
  })
}

async function readSize(queries: Queries): Promise<AuditSize> {
  const { seq: endSeq } = await readEnd(queries)
  const oldest = await first<{ seq: number | null }>(queries, 'select min(seq) as seq from audit')
  const size = await first<{ bytes: number | null }>(
    queries,
    `select sum(pg_total_relation_size(oid))::int8 as bytes from pg_class
     where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'decision_packages'
       and not exists (select from pg_inherits where inhrelid = oid and inhparent = 'decisions'::regclass)`,
  )
  return { firstSeq: oldest?.seq ?? endSeq + 1, endSeq, bytes: size?.bytes ?? 0 }
}
