import type { Kysely } from 'kysely'
import type { AuditKeeper, RemovedRecords } from '../../ports/audit-store.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import { addCheckpoint, makeTrailQueries, requireRetentionCheckpoint } from '../../trail/trail-queries.js'
import type { Session } from '../engine/session.js'
import { first, run } from '../engine/statements.js'
import type { Part } from '../months/month.js'
import { listParts, removePart } from '../months/monthly-table.js'
import type { PostgresAppender } from './audit-appender.js'
import { TRAIL } from './trail-months.js'
import type { TrailState } from './trail-state.js'

/** The trail in a transaction. */
export function makeAuditKeeper(
  session: Session,
  db: Kysely<ServiceDatabase>,
  state: TrailState,
  appender: PostgresAppender,
): AuditKeeper {
  const { find } = makeTrailQueries(db)
  return {
    append: (entry) => appender.append(entry),
    end: () => Promise.resolve({ seq: state.end.seq, hash: Buffer.from(state.end.hash).toString('hex') }),
    find: async (seq) => {
      await appender.flush()
      return await find(seq)
    },
    addCheckpoint: async (checkpoint) => {
      await appender.flush()
      await addCheckpoint(db, checkpoint)
    },
    deleteThrough: async (seq, limit) => {
      await appender.flush()
      await requireRetentionCheckpoint(db, seq)
      return await removeRecords(session, seq, limit, state.nowMs)
    },
  }
}

/** Event ids per record and step: ids are short, so a step removes more of them. */
const IDS_PER_RECORD = 20
const NOTHING: RemovedRecords = { removed: 0, isMoreLeft: false }

/**
 * Removes some of the oldest records up to a retention checkpoint: a whole month if all of it may
 * go, or at most `limit` records of the part from before the trail had months. `nowMs` is the
 * database's time.
 */
async function removeRecords(
  session: Session,
  throughSeq: number,
  limit: number,
  nowMs: number,
): Promise<RemovedRecords> {
  const [oldest] = await listParts(session, TRAIL.name)
  if (oldest === undefined) return NOTHING
  const kept = await first<{ first: number | null; last: number | null }>(
    session,
    `select min(seq) as first, max(seq) as last from ${oldest.name}`,
  )
  // An empty part ends before all records.
  const [from, to] = [kept?.first ?? 1, kept?.last ?? 0]
  // A month that is over gets no more records.
  if (to <= throughSeq && oldest.toMs <= nowMs) return await removeMonth(session, oldest, { from, to }, limit)
  return oldest.fromMs === undefined ? await removeRows(session, throughSeq, limit) : NOTHING
}

/** Removes the event ids of a month in several steps, then the month. */
async function removeMonth(
  session: Session,
  part: Part,
  { from, to }: { readonly from: number; readonly to: number },
  limit: number,
): Promise<RemovedRecords> {
  const ids = await run(
    session,
    'delete from audit_event_ids where seq in (select seq from audit_event_ids where seq <= $1 order by seq limit $2)',
    [to, limit * IDS_PER_RECORD],
  )
  if (ids > 0) return { removed: 0, isMoreLeft: true }
  const isGone = await removePart(session, part)
  return isGone ? { removed: Math.max(0, to - from + 1), isMoreLeft: true } : NOTHING
}

async function removeRows(session: Session, throughSeq: number, limit: number): Promise<RemovedRecords> {
  await run(session, 'insert into audit_retention values ($1)', [throughSeq])
  const removed = await run(
    session,
    'delete from audit where seq in (select seq from audit where seq <= $1 order by seq limit $2)',
    [throughSeq, limit],
  )
  await run(session, 'delete from audit_retention')
  if (removed > 0) {
    const oldest = '(select seq from audit order by seq limit 1)'
    await run(session, `delete from audit_event_ids where seq <= $1 and seq < coalesce(${oldest}, $1 + 1)`, [
      throughSeq,
    ])
  }
  return { removed, isMoreLeft: removed === limit }
}
