import type { Database } from 'better-sqlite3'
import type { AuditHead, AuditTextPage, AuditTextQuery } from '../../ports/audit-store.js'
import { matches } from './audit-search.js'
import { searchTerms } from '../../trail/searchable-text.js'
import { columnMarks } from './audit-text-index.js'
import { HEAD_COLUMNS, toHead } from '../../tables/audit-table.js'
import type { AuditHeadRow } from '../../tables/audit-table.js'

/** Records that are looked at for one page: what is rarer than that takes several pages, some of them empty. */
const MAX_LOOKED_AT = 5000
const BEFORE_ALL = Number.MAX_SAFE_INTEGER

/** Returns a function that reads a page of the records whose bodies hold some words. */
export function makeTextPageReader(database: Database): (query: AuditTextQuery) => AuditTextPage {
  const heads = HEAD_COLUMNS.split(', ')
    .map((name) => `audit.${name}`)
    .join(', ')
  const select = database.prepare<[string, number, number], AuditHeadRow>(
    `select ${heads} from audit_text cross join audit on audit.seq = audit_text.rowid
     where audit_text match ? and audit_text.rowid < ? order by audit_text.rowid desc limit ?`,
  )
  return ({ filter, words, limit, beforeSeq }) => {
    const records: AuditHead[] = []
    let lookedAt = 0
    let lastSeq = 0
    const expression = matchExpression([...words, ...columnMarks(filter)])
    if (expression === '') return { records }
    for (const row of select.iterate(expression, beforeSeq ?? BEFORE_ALL, MAX_LOOKED_AT)) {
      lookedAt += 1
      lastSeq = row.seq
      if (matches(row, { filter, order: 'newest_first' })) records.push(toHead(row))
      if (records.length === limit) break
    }
    const isAll = records.length < limit && lookedAt < MAX_LOOKED_AT
    return isAll ? { records } : { records, nextSeq: lastSeq }
  }
}

/** All of the words, each as a text of its own: the syntax of FTS5 means nothing inside it. Its unicode61 splits words as `searchTerms` does. */
function matchExpression(words: readonly string[]): string {
  const terms = words.flatMap(searchTerms)
  return terms.map(({ word, isPrefix }) => (isPrefix ? `"${word}"*` : `"${word}"`)).join(' AND ')
}
