import type { Database } from 'better-sqlite3'
import type { Readers } from '../../ports/readers.js'
import type { Transaction } from '../../ports/transaction.js'
import { selectProgress } from '../audit/audit-end.js'
import type { IndexProgress } from '../audit/audit-end.js'
import type { TrailIndexes } from '../audit/trail-indexes.js'

/** What the operations of maintenance have at hand beside that of features. */
export interface SqliteTransaction extends Transaction {
  readonly trailIndexes: TrailIndexes
  readonly freeSpace: FreeSpace
}

/** What is looked at to see whether maintenance is due. */
export interface SqliteReaders extends Readers {
  readonly maintenance: MaintenanceFigures
}

export interface MaintenanceFigures {
  /** How far the indexes have come behind the trail. */
  progress(): Promise<IndexProgress>
  /** Of the file, without records. */
  freeBytes(): Promise<number>
}

/** The pages of the file without records. */
export interface FreeSpace {
  /** Gives at most this many bytes back to the file system; returns whether some were and others are left. */
  release(maxBytes: number): boolean
}

/** Reads, on any connection, what maintenance is due. */
export function makeMaintenanceFigures(database: Database): MaintenanceFigures {
  const readProgress = selectProgress(database)
  return {
    progress: () => Promise.resolve(readProgress()),
    freeBytes: () => Promise.resolve(freePages(database) * pageBytes(database)),
  }
}

export function makeFreeSpace(database: Database): FreeSpace {
  return {
    release: (maxBytes) => {
      const before = freePages(database)
      database.pragma(`incremental_vacuum(${Math.ceil(maxBytes / pageBytes(database))})`)
      const after = freePages(database)
      return after > 0 && after < before
    },
  }
}

function freePages(database: Database): number {
  return Number(database.pragma('freelist_count', { simple: true }))
}

function pageBytes(database: Database): number {
  return Number(database.pragma('page_size', { simple: true }))
}
