import type { Database } from 'better-sqlite3'
import type { CachingContext } from '../calls/write-connection.js'
import { makeColumnIndex } from './audit-column-index.js'
import type { ColumnIndex } from './audit-column-index.js'
import { makeEventIds } from './audit-event-ids.js'
import type { EventIds } from './audit-event-ids.js'
import { makeTextIndexer, makeTextMerger } from './audit-text-index.js'
import { makeTextParts } from './audit-text-parts.js'
import { makeTextRemover } from './audit-text-index.js'

/** What finds records quickly; it follows the trail in steps of its own, so that appending a record costs little. */
export interface TrailIndexes extends CachingContext {
  readonly columns: ColumnIndex
  readonly eventIds: EventIds
  /** Makes further records found by free text: at most `limit`, of at most about `maxBytes` of bodies; returns how many. */
  readonly indexText: (limit: number, maxBytes: number) => number
  /** Joins segments of the newest part of the index of free text, writing about this many pages, for about `maxMs`; returns whether there may be more to join. */
  readonly mergeText: (pages: number, maxMs: number) => boolean
  /** Takes removed records, by their numbers, out of the index of free text. */
  readonly removeText: (seqs: readonly number[]) => void
}

/** The indexes on the connection that writes. */
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
