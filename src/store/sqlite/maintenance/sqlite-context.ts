import type { Database } from 'better-sqlite3'
import type { Readers } from '../../ports/readers.js'
import type { Transaction } from '../../ports/transaction.js'
import { selectProgress } from '../audit/audit-end.js'
import type { IndexProgress } from '../audit/audit-end.js'
import type { TrailIndexes } from '../audit/trail-indexes.js'

/** Context of the operations of maintenance. */
export interface SqliteTransaction extends Transaction {
  readonly trailIndexes: TrailIndexes
  readonly freeSpace: FreeSpace
}

/** Readers that also show whether maintenance is due. */
export interface SqliteReaders extends Readers {
  readonly maintenance: MaintenanceStatus
}

export interface MaintenanceStatus {
  /** Progress of the indexes. */
  progress(): Promise<IndexProgress>
  /** Free bytes of the file. */
  freeBytes(): Promise<number>
}

/** Free pages of the file. */
export interface FreeSpace {
  /**
   * Gives at most `maxBytes` back to the file system, for about `maxMs`. Returns whether some were
   * given back and others are left.
   */
  release(maxBytes: number, maxMs: number): boolean
}

/** Reads on any connection whether maintenance is due. */
export function makeMaintenanceStatus(database: Database): MaintenanceStatus {
  const readProgress = selectProgress(database)
  return {
    progress: () => Promise.resolve(readProgress()),
    freeBytes: () => Promise.resolve(freePages(database) * pageBytes(database)),
  }
}

/**
 * Pages given back between two looks at the clock. A page of a large tree takes up to 0.2 ms,
 * others a tenth of that.
 */
const PAGES_AT_A_TIME = 16

export function makeFreeSpace(database: Database): FreeSpace {
  return {
    release: (maxBytes, maxMs) => {
      const [startedAt, before] = [performance.now(), freePages(database)]
      const least = Math.max(0, before - Math.ceil(maxBytes / pageBytes(database)))
      const releaseSome = (left: number): number => {
        database.pragma(`incremental_vacuum(${Math.min(PAGES_AT_A_TIME, left - least)})`)
        return freePages(database)
      }
      let [left, hasTime] = [before, true]
      while (left > least && hasTime) {
        const next = releaseSome(left)
        hasTime = next < left && performance.now() - startedAt < maxMs
        left = next
      }
      return left > 0 && left < before
    },
  }
}

function freePages(database: Database): number {
  return Number(database.pragma('freelist_count', { simple: true }))
}

function pageBytes(database: Database): number {
  return Number(database.pragma('page_size', { simple: true }))
}
