import type { Database } from 'better-sqlite3'
import type { AuditKeeper } from '../../ports/audit-store.js'
import { makeAuditAppender } from './audit-appender.js'
import { makeCheckpointKeeper } from './audit-checkpoint-table.js'
import { makeColumnIndex } from './audit-column-index.js'
import { makeAuditReader } from './audit-reader.js'
import { makeEventIds } from './audit-event-ids.js'
import { makePrefixDeleter } from './audit-retention.js'
import { makeTextIndexer, makeTextMerger } from './audit-text-index.js'
import type { Forgetful } from '../calls/execute-batch.js'

const PAGE_BYTES = 4096

/** The trail on a connection that writes; `now` in milliseconds since the epoch. */
export function makeAuditKeeper(database: Database, now: () => number): AuditKeeper & Forgetful {
  const eventIds = makeEventIds(database)
  const appender = makeAuditAppender(database, eventIds, now)
  const columnIndex = makeColumnIndex(database)
  const indexText = makeTextIndexer(database)
  const mergeText = makeTextMerger(database)
  const reader = makeAuditReader(database)
  const addCheckpoint = makeCheckpointKeeper(database)
  const deletePrefix = makePrefixDeleter(database, columnIndex, eventIds)
  return {
    append: (entry) => appender.append(entry),
    end: () => reader.end(),
    find: (seq) => reader.find(seq),
    // A promise made by a call: what it raises is a rejection.
    addCheckpoint: (checkpoint) => Promise.resolve(checkpoint).then(addCheckpoint),
    indexColumns: (records, values) => Promise.resolve(columnIndex.extend(records, values)),
    settleEventIds: (limit, gathered) => Promise.resolve(eventIds.settle(limit, gathered)),
    indexText: (limit, maxBytes) => Promise.resolve(indexText(limit, maxBytes)),
    mergeText: (pages) => Promise.resolve(mergeText(pages)),
    deleteThrough: (seq, limit) => Promise.resolve(seq).then((through) => deletePrefix(through, limit)),
    releaseFreeSpace: (maxBytes) => {
      database.pragma(`incremental_vacuum(${Math.ceil(maxBytes / PAGE_BYTES)})`)
      return Promise.resolve()
    },
    forget: () => {
      appender.forget()
      columnIndex.forget()
      eventIds.forget()
    },
  }
}
