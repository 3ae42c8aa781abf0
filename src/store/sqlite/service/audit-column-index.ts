import type { Database } from 'better-sqlite3'
import { AUDIT_TEXT_COLUMNS } from '../../audit-store.js'
import type { AuditTextColumn } from '../../audit-store.js'
import { HEAD_COLUMNS, TEXT_COLUMN_NAMES } from './audit-table.js'
import type { AuditHeadRow } from './audit-table.js'
import type { Forgetful } from './execute-batch.js'

interface Posting {
  readonly valueId: number
  readonly timeMs: number
  readonly seq: number
}

/** Values whose numbers are remembered; then all are forgotten. */
const MAX_REMEMBERED = 50_000

/** The index of the trail by its columns. */
export interface ColumnIndex extends Forgetful {
  /** Takes up at most so many further records; gives how many. */
  readonly extend: (limit: number) => number
  /** Drops records that go. */
  readonly drop: (rows: readonly AuditHeadRow[]) => void
}

/**
 * Records are taken up many at once: the entries of one value then fall on the same page, where an index of each column would
 * write a page for every record.
 */
export function makeColumnIndex(database: Database): ColumnIndex {
  const selectNext = database.prepare<[number], AuditHeadRow>(
    `select ${HEAD_COLUMNS} from audit where seq > (select columns_seq from audit_progress) order by seq limit ?`,
  )
  const insert = database.prepare<[number, number, number]>(
    'insert or ignore into audit_postings (value_id, time_ms, seq) values (?, ?, ?)',
  )
  const remove = database.prepare<[number, number, number]>(
    'delete from audit_postings where value_id = ? and time_ms = ? and seq = ?',
  )
  const advance = database.prepare<[number]>('update audit_progress set columns_seq = ?')
  const values = makeValueIds(database)
  return {
    extend: (limit) => {
      const rows = selectNext.all(limit)
      const last = rows.at(-1)
      if (last === undefined) return 0
      const postings = rows.flatMap((row) => postingsOf(row, values.idOf))
      for (const { valueId, timeMs, seq } of postings.sort(inIndexOrder)) insert.run(valueId, timeMs, seq)
      advance.run(last.seq)
      return rows.length
    },
    drop: (rows) => {
      const postings = rows.flatMap((row) => postingsOf(row, values.idOf))
      for (const { valueId, timeMs, seq } of postings.sort(inIndexOrder)) remove.run(valueId, timeMs, seq)
    },
    forget: values.forget,
  }
}

function postingsOf(row: AuditHeadRow, idOf: (column: AuditTextColumn, value: string) => number): Posting[] {
  const postings: Posting[] = []
  for (const column of AUDIT_TEXT_COLUMNS) {
    const value = row[TEXT_COLUMN_NAMES[column]]
    if (typeof value === 'string') {
      postings.push({ valueId: idOf(column, value), timeMs: row.time_ms, seq: row.seq })
    }
  }
  return postings
}

function inIndexOrder(a: Posting, b: Posting): number {
  return a.valueId - b.valueId || a.timeMs - b.timeMs || a.seq - b.seq
}

interface ValueIds {
  readonly idOf: (column: AuditTextColumn, value: string) => number
  readonly forget: () => void
}

function makeValueIds(database: Database): ValueIds {
  const select = database.prepare<[string, string], { id: number }>(
    'select id from audit_values where name = ? and value = ?',
  )
  const insert = database.prepare<[string, string]>('insert into audit_values (name, value) values (?, ?)')
  const known = new Map<string, number>()
  return {
    idOf: (column, value) => {
      const key = `${column}:${value}`
      const remembered = known.get(key)
      if (remembered !== undefined) return remembered
      const id = select.get(column, value)?.id ?? Number(insert.run(column, value).lastInsertRowid)
      if (known.size >= MAX_REMEMBERED) known.clear()
      known.set(key, id)
      return id
    },
    forget: () => known.clear(),
  }
}
