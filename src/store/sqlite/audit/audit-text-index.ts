import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type {
  AuditFilter,
  AuditTextColumn,
  AuditHead,
  AuditTextPage,
  AuditTextQuery,
} from '../../ports/audit-store.js'
import { HEAD_COLUMN_NAMES, toHead } from '../../tables/audit-table.js'
import type { AuditTable, AuditHeadRow } from '../../tables/audit-table.js'
import { unpackBody } from '../../tables/packed-body.js'
import { searchableText, searchTerms } from '../../trail/searchable-text.js'
import { matches } from './audit-search.js'
import { statementsByPart, UNDIVIDED, selectTextParts } from './audit-text-parts.js'
import type { TextParts } from './audit-text-parts.js'

/** Columns that the text index itself can filter by. */
const MARKED_COLUMNS = [
  'application',
  'executionId',
  'pipeline',
] as const satisfies readonly AuditTextColumn[]
const MARK_DIGITS = 12

type MarkedColumn = (typeof MARKED_COLUMNS)[number]
type TextRow = Pick<AuditTable, 'seq' | 'application' | 'execution_id' | 'pipeline' | 'body_bytes' | 'body'>

/** Returns a function that adds records to the text index, in order, and returns their number. */
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

/**
 * Pages written between two looks at the clock. If most records of a segment are deleted, writing
 * one page reads many.
 */
const PAGES_PER_CHECK = 1

/**
 * Returns a function that merges segments of a part of the index. It writes about `pages` pages, or
 * fewer if that takes longer than `maxMs`, and returns whether there may be more to merge.
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
    for (let written = 0; written < pages; written += PAGES_PER_CHECK) {
      const before = changes.get() ?? 0
      join.run(PAGES_PER_CHECK)
      // The command itself counts as one change (https://sqlite.org/fts5.html, 'merge').
      if ((changes.get() ?? 0) - before <= 1) return false
      if (performance.now() - startedAt >= maxMs) return true
    }
    return true
  }
}

/**
 * Returns marks for the filtered columns: words that the index has for a record's column values.
 */
function columnMarks(filter: AuditFilter): string[] {
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

/** Returns a word that no body contains by chance. */
function mark(column: MarkedColumn, value: string): string {
  return `tg${hash('sha256', `${column}:${value}`).slice(0, MARK_DIGITS)}gt`
}

/**
 * Work on an undivided index after each step. Merging while records are deleted keeps segments of
 * mostly deleted records small, which FTS5 reads in one piece.
 */
const MERGED = { pages: 2, maxMs: 3 }

/**
 * Returns a function that removes deleted records, given by their numbers, from the text index: it
 * drops the parts that contain only deleted records. Until then a search skips them.
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
    // A part ends where the next newer one begins, and the newest with the last indexed record.
    const listed = parts.list()
    listed.forEach(({ part }, index) => {
      const newer = listed[index - 1]
      const lastSeq = newer === undefined ? (selectIndexed.get() ?? 0) : newer.firstSeq - 1
      if (lastSeq <= throughSeq) parts.drop(part)
      else if (part === UNDIVIDED) removeSingles(seqs)
    })
  }
}

/**
 * Highest number of records scanned for one page. Rare matches take several pages, some of them
 * empty.
 */
const MAX_SCANNED = 5000
const BEFORE_ALL = Number.MAX_SAFE_INTEGER
/** Highest number of cached statements, one per part of the index. */
const MAX_STATEMENTS = 1024

/** Returns a function that reads a page of the records whose bodies contain some words. */
export function makeTextPageReader(database: Database): (query: AuditTextQuery) => AuditTextPage {
  const heads = HEAD_COLUMN_NAMES.map((name) => `audit.${name}`).join(', ')
  const parts = selectTextParts(database)
  const select = statementsByPart<[string, number, number], AuditHeadRow>(
    database,
    MAX_STATEMENTS,
    (table) =>
      `select ${heads} from ${table} cross join audit on audit.seq = ${table}.rowid
       where ${table} match ? and ${table}.rowid < ? order by ${table}.rowid desc limit ?`,
  )
  /** Matching rows, newest first. */
  function* found(expression: string, beforeSeq: number): Iterable<AuditHeadRow> {
    for (const { part, firstSeq } of parts()) {
      if (firstSeq < beforeSeq) yield* select(part).iterate(expression, beforeSeq, MAX_SCANNED)
    }
  }
  const readPage = ({ filter, words, limit, beforeSeq }: AuditTextQuery): AuditTextPage => {
    const records: AuditHead[] = []
    let scanned = 0
    let lastSeq = 0
    const expression = matchExpression([...words, ...columnMarks(filter)])
    if (expression === '') return { records }
    for (const row of found(expression, beforeSeq ?? BEFORE_ALL)) {
      scanned += 1
      lastSeq = row.seq
      if (matches(row, { filter, order: 'newest_first' })) records.push(toHead(row))
      if (records.length === limit || scanned === MAX_SCANNED) break
    }
    const isAll = records.length < limit && scanned < MAX_SCANNED
    return isAll ? { records } : { records, nextSeq: lastSeq }
  }
  // One transaction, since a listed part may be dropped before it is searched.
  return database.transaction(readPage)
}

/**
 * Quotes each word, so that the syntax of FTS5 does not apply to it. The tokenizer splits words as
 * `searchTerms` does.
 */
function matchExpression(words: readonly string[]): string {
  const terms = words.flatMap(searchTerms)
  return terms.map(({ word, isPrefix }) => (isPrefix ? `"${word}"*` : `"${word}"`)).join(' AND ')
}
