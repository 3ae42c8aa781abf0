import type { Database } from 'better-sqlite3'
import type { AuditKeeper } from '../../ports/audit-store.js'
import { makeAuditAppender } from './audit-appender.js'
import { makeCheckpointKeeper } from './audit-checkpoints.js'
import { makeAuditReader } from './audit-reader.js'
import { makePrefixDeleter } from './audit-retention.js'
import type { TrailIndexes } from './trail-indexes.js'
import type { CachingContext } from '../calls/execute-batch.js'

/** The trail on a connection that writes; `now` in milliseconds since the epoch. */
export function makeAuditKeeper(
  database: Database,
  trailIndexes: TrailIndexes,
  now: () => number,
): AuditKeeper & CachingContext {
  const appender = makeAuditAppender(database, trailIndexes.eventIds, now)
  const reader = makeAuditReader(database)
  const addCheckpoint = makeCheckpointKeeper(database)
  const deletePrefix = makePrefixDeleter(database, trailIndexes)
  return {
    append: (entry) => appender.append(entry),
    end: () => reader.end(),
    find: (seq) => reader.find(seq),
    // A promise made by a call: what it raises is a rejection.
    addCheckpoint: (checkpoint) => Promise.resolve(checkpoint).then(addCheckpoint),
    deleteThrough: (seq, limit) =>
      Promise.resolve(seq).then((through) => {
        const removed = deletePrefix(through, limit)
        return { removed, isMoreLeft: removed === limit }
      }),
    clearCaches: () => {
      appender.clearCaches()
    },
  }
}
