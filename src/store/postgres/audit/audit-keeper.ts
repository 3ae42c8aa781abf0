import type { AuditKeeper } from '../../ports/audit-store.js'
import type { Session } from '../engine/session.js'
import type { PostgresAppender } from './audit-appender.js'
import { addCheckpoint } from './audit-checkpoints.js'
import { findRecord } from './audit-reader.js'
import { removeRecords } from './audit-retention.js'
import type { TrailState } from './trail-state.js'

/** The trail in a transaction. */
export function makeAuditKeeper(
  session: Session,
  state: TrailState,
  appender: PostgresAppender,
): AuditKeeper {
  return {
    append: (entry) => appender.append(entry),
    end: () => Promise.resolve({ seq: state.end.seq, hash: Buffer.from(state.end.hash).toString('hex') }),
    find: async (seq) => {
      await appender.flush()
      return await findRecord(session, seq)
    },
    addCheckpoint: async (checkpoint) => {
      await appender.flush()
      await addCheckpoint(session, checkpoint)
    },
    deleteThrough: async (seq, limit) => {
      await appender.flush()
      return await removeRecords(session, seq, limit, state.nowMs)
    },
  }
}
