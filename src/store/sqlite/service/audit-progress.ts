import type { Database } from 'better-sqlite3'
import type { SearchProgress } from '../../audit-store.js'
import { selectEnd } from './audit-end.js'

/** Gives a function that reads how far the search has come. */
export function selectProgress(database: Database): () => SearchProgress {
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
