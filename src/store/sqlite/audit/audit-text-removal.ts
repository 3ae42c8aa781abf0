import type { Database } from 'better-sqlite3'
import { makeTextMerger } from './audit-text-index.js'
import { statementsByPart, UNDIVIDED } from './audit-text-parts.js'
import type { TextParts } from './audit-text-parts.js'

/**
 * What is written of an undivided index after each step. It is joined while records go, not afterwards: a part of it of which most
 * are gone by then is read in one piece, however long that takes.
 */
const MERGED = { pages: 2, maxMs: 3 }

/**
 * Returns a function that takes the records that were removed, of which these are the numbers, out of the index of free text: the parts that hold none but
 * removed ones. Until then a search passes over them.
 */
export function makeTextRemover(database: Database, parts: TextParts): (seqs: readonly number[]) => void {
  const selectIndexed = database.prepare<[], number>('select text_seq from audit_progress').pluck()
  const removeSingle = statementsByPart<[number], unknown>(
    database,
    1,
    (table) => `delete from ${table} where rowid = ?`,
  )
  const merge = makeTextMerger(database)
  const removeSingles = (seqs: readonly number[]): void => {
    const remove = removeSingle(UNDIVIDED)
    for (const seq of seqs) remove.run(seq)
    merge(UNDIVIDED, MERGED.pages, MERGED.maxMs)
  }
  return (seqs) => {
    const throughSeq = seqs.at(-1) ?? 0
    // A part ends where the next newer one begins, and the newest with the last record that is indexed.
    const listed = parts.list()
    listed.forEach(({ part }, index) => {
      const newer = listed[index - 1]
      const lastSeq = newer === undefined ? (selectIndexed.get() ?? 0) : newer.firstSeq - 1
      if (lastSeq <= throughSeq) parts.drop(part)
      else if (part === UNDIVIDED) removeSingles(seqs)
    })
  }
}
