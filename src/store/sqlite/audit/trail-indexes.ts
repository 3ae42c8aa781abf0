import type { Database } from 'better-sqlite3'
import type { CachingContext } from '../calls/write-connection.js'
import { makeColumnIndex } from './audit-column-index.js'
import type { ColumnIndex } from './audit-column-index.js'
import { makeEventIds } from './audit-event-ids.js'
import type { EventIds } from './audit-event-ids.js'
import { makeTextIndexer, makeTextMerger } from './audit-text-index.js'
import { makeTextParts } from './audit-text-parts.js'
import { makeTextRemover } from './audit-text-index.js'

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
