import { hash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import type { AuditFilter, AuditTextColumn } from '../../ports/audit-store.js'
import { searchableText } from '../../trail/searchable-text.js'
import { unpackBody } from '../../tables/packed-body.js'
import type { AuditTable } from '../../tables/audit-table.js'
import { statementsByPart } from './audit-text-parts.js'
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
