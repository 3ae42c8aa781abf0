import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { AuditFilter, AuditTextColumn, AuditHead, AuditTextPage, AuditTextQuery } from '../../ports/audit-store.js'
import { HEAD_COLUMNS, toHead } from '../../tables/audit-table.js'
import type { AuditTable, AuditHeadRow } from '../../tables/audit-table.js'
import { unpackBody } from '../../tables/packed-body.js'
import { searchableText, searchTerms } from '../../trail/searchable-text.js'
import { matches } from './audit-search.js'
import { statementsByPart, UNDIVIDED, selectTextParts } from './audit-text-parts.js'
import type { TextParts } from './audit-text-parts.js'

/** The columns by which free text can be narrowed down inside the index itself. */
const MARKED_COLUMNS = [
  'application',
  'executionId',
  'pipeline',
] as const satisfies readonly AuditTextColumn[]
const MARK_DIGITS = 12

type MarkedColumn = (typeof MARKED_COLUMNS)[number]
type TextRow = Pick<AuditTable, 'seq' | 'application' | 'execution_id' | 'pipeline' | 'body_bytes' | 'body'>

/** Makes records found by free text, in the order of the trail; returns how many were taken. */
export function makeTextIndexer(
  database: Database,
  parts: TextParts,
): (limit: number, maxBytes: number) => number {
  const selectNext = database.prepare<[number], TextRow>(
    `select seq, application, execution_id, pipeline, body_bytes, body from audit
     where seq > (select text_seq from audit_progress) order by seq limit ?`,
  )
  const insert = statementsByPart<[number, string], unknown>(
    database,
    1,
    (table) => `insert into ${table} (rowid, body) values (?, ?)`,
  )
  const advance = database.prepare<[number]>('update audit_progress set text_seq = ?')
  return (limit, maxBytes) => {
    const taken: TextRow[] = []
    let bytes = 0
    for (const row of selectNext.iterate(limit)) {
      taken.push(row)
      bytes += row.body_bytes
      if (bytes >= maxBytes) break
    }
    const [first, last] = [taken[0], taken.at(-1)]
    if (first === undefined || last === undefined) return 0
    const add = insert(parts.partFor(first.seq))
    for (const row of taken) add.run(row.seq, indexedText(row))
    advance.run(last.seq)
    return taken.length
  }
}

/** What is written before the time is looked at. To write a page, many are read where most of their records have been removed. */
const PAGES_AT_A_TIME = 1

/**
 * Returns a function that joins the segments of a part of the index, writing about this many pages, or fewer where that takes longer than `maxMs`; it returns
 * whether there may be more to join.
 */
export function makeTextMerger(database: Database): (part: number, pages: number, maxMs: number) => boolean {
  const changes = database.prepare<[], number>('select total_changes()').pluck()
  const merge = statementsByPart<[number], unknown>(
    database,
    1,
    (table) => `insert into ${table} (${table}, rank) values ('merge', ?)`,
  )
  return (part, pages, maxMs) => {
    const join = merge(part)
    const startedAt = performance.now()
    for (let written = 0; written < pages; written += PAGES_AT_A_TIME) {
      const before = changes.get() ?? 0
      join.run(PAGES_AT_A_TIME)
      // One change is the command itself (https://sqlite.org/fts5.html, 'merge').
      if ((changes.get() ?? 0) - before <= 1) return false
      if (performance.now() - startedAt >= maxMs) return true
    }
    return true
  }
}

/** The words that a record has in the index because of its columns, in the form of a query. */
export function columnMarks(filter: AuditFilter): string[] {
  return MARKED_COLUMNS.flatMap((column) => {
    const value = filter[column]
    return value === undefined ? [] : [mark(column, value)]
  })
}

function indexedText(row: TextRow): string {
  const body = searchableText(unpackBody(row.body, row.body_bytes))
  const { application, execution_id: executionId, pipeline } = row
  const marks = columnMarks({
    ...(application !== null && { application }),
    ...(executionId !== null && { executionId }),
    ...(pipeline !== null && { pipeline }),
  })
  return `${marks.join(' ')} ${body}`
}

/** One word that no body holds by chance. */
function mark(column: MarkedColumn, value: string): string {
  return `tg${hash('sha256', `${column}:${value}`).slice(0, MARK_DIGITS)}gt`
}

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
