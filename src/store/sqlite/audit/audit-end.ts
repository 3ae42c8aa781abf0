import type { Database } from 'better-sqlite3'
import { TRAIL_START } from '../../trail/audit-chain.js'
import type { StoredEnd } from '../../trail/audit-chain.js'

/**
 * Returns a function that reads the end of the trail: its newest record, or the last checkpoint if
 * retention removed all records.
 */
export function selectEnd(database: Database): () => StoredEnd {
  const newest = database.prepare<[], StoredEnd>(
    'select seq, recorded_ms as recordedMs, hash from audit order by seq desc limit 1',
  )
  const checkpoint = database.prepare<[], StoredEnd>(
    'select seq, at_ms as recordedMs, hash from audit_checkpoints order by seq desc, id desc limit 1',
  )
  return () => newest.get() ?? checkpoint.get() ?? TRAIL_START
}

/** Progress of the indexes. */
export interface IndexProgress {
  /** The last record in the index by columns. */
  readonly columnsSeq: number
  /** The last record in the text index. */
  readonly textSeq: number
  /** The last record in the table of event keys. */
  readonly keysSeq: number
  readonly endSeq: number
}

/** Returns a function that reads the progress of the indexes. */
export function selectProgress(database: Database): () => IndexProgress {
  const progress = database.prepare<[], { columns_seq: number; text_seq: number; keys_seq: number }>(
    'select * from audit_progress',
  )
  const end = selectEnd(database)
  return () => {
    const row = progress.get()
    return {
      columnsSeq: row?.columns_seq ?? 0,
      textSeq: row?.text_seq ?? 0,
      keysSeq: row?.keys_seq ?? 0,
      endSeq: end().seq,
    }
  }
}
