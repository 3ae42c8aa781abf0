import type { Database } from 'better-sqlite3'
import type { AuditHead, AuditTextPage, AuditTextQuery } from '../../ports/audit-store.js'
import { matches } from './audit-search.js'
import { searchTerms } from '../../trail/searchable-text.js'
import { columnMarks } from './audit-text-index.js'
import { selectTextParts, statementsByPart } from './audit-text-parts.js'
import { HEAD_COLUMNS, toHead } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'

/** Records that are looked at for one page: what is rarer than that takes several pages, some of them empty. */
const MAX_LOOKED_AT = 5000
const BEFORE_ALL = Number.MAX_SAFE_INTEGER
/** Parts of the index whose statements are kept. */
const MOST_STATEMENTS = 1024

/** Returns a function that reads a page of the records whose bodies hold some words. */
export function makeTextPageReader(database: Database): (query: AuditTextQuery) => AuditTextPage {
  const heads = HEAD_COLUMNS.split(', ')
    .map((name) => `audit.${name}`)
    .join(', ')
  const parts = selectTextParts(database)
  const select = statementsByPart<[string, number, number], AuditHeadRow>(
    database,
    MOST_STATEMENTS,
    (table) =>
      `select ${heads} from ${table} cross join audit on audit.seq = ${table}.rowid
       where ${table} match ? and ${table}.rowid < ? order by ${table}.rowid desc limit ?`,
  )
  /** The newest first. */
  function* found(expression: string, beforeSeq: number): Iterable<AuditHeadRow> {
    for (const { part, firstSeq } of parts()) {
      if (firstSeq < beforeSeq) yield* select(part).iterate(expression, beforeSeq, MAX_LOOKED_AT)
    }
  }
  const readPage = ({ filter, words, limit, beforeSeq }: AuditTextQuery): AuditTextPage => {
    const records: AuditHead[] = []
    let lookedAt = 0
    let lastSeq = 0
    const expression = matchExpression([...words, ...columnMarks(filter)])
    if (expression === '') return { records }
    for (const row of found(expression, beforeSeq ?? BEFORE_ALL)) {
      lookedAt += 1
      lastSeq = row.seq
      if (matches(row, { filter, order: 'newest_first' })) records.push(toHead(row))
      if (records.length === limit || lookedAt === MAX_LOOKED_AT) break
    }
    const isAll = records.length < limit && lookedAt < MAX_LOOKED_AT
    return isAll ? { records } : { records, nextSeq: lastSeq }
  }
  // Of one state of the store: a part that is listed may be dropped before it is asked.
  return database.transaction(readPage)
}

/** All of the words, each as a text of its own: the syntax of FTS5 means nothing inside it. Its unicode61 splits words as `searchTerms` does. */
function matchExpression(words: readonly string[]): string {
  const terms = words.flatMap(searchTerms)
  return terms.map(({ word, isPrefix }) => (isPrefix ? `"${word}"*` : `"${word}"`)).join(' AND ')
}
