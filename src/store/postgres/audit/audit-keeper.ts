import { AppError } from '../../../errors/app-error.js'
import type { AuditKeeper } from '../../ports/audit-store.js'
import type { Queries } from '../engine/session.js'
import { first, run } from '../engine/statements.js'
import type { PostgresAppender } from './audit-appender.js'
import { addCheckpoint } from './audit-checkpoints.js'
import { findRecord } from './audit-reader.js'
import type { TrailState } from './trail-state.js'

/** The trail in a transaction. */
export function makeAuditKeeper(
  queries: Queries,
  state: TrailState,
  appender: PostgresAppender,
): AuditKeeper {
  return {
    append: (entry) => appender.append(entry),
    end: () => Promise.resolve({ seq: state.end.seq, hash: Buffer.from(state.end.hash).toString('hex') }),
    find: async (seq) => {
      await appender.flush()
      return await findRecord(queries, seq)
    },
    addCheckpoint: async (checkpoint) => {
      await appender.flush()
      await addCheckpoint(queries, checkpoint)
    },
    deleteThrough: async (seq, limit) => {
      await appender.flush()
      return await deletePrefix(queries, seq, limit)
    },
  }
}

/** What is left must start from a link that is known. */
async function deletePrefix(queries: Queries, throughSeq: number, limit: number): Promise<number> {
  const text = "select 1 from audit_checkpoints where seq = $1 and reason = 'retention'"
  if ((await first(queries, text, [throughSeq])) === undefined) {
    throw new AppError('conflict', `no checkpoint of retention stands at audit record ${throughSeq}`)
  }
  await run(queries, 'insert into audit_retention values ($1)', [throughSeq])
  const deleted = await run(
    queries,
    'delete from audit where seq in (select seq from audit where seq <= $1 order by seq limit $2)',
    [throughSeq, limit],
  )
  await run(queries, 'delete from audit_retention')
  return deleted
}
