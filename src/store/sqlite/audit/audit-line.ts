import { EXPORT_COLUMNS } from '../../ports/audit-export.js'
import type { ExportColumn, ExportFormat } from '../../ports/audit-export.js'
import { isFormulaSql, isPlainSql } from '../../trail/formula-cells.js'

type ColumnType = 'number' | 'time' | 'text' | 'bytes'

/** What an export's columns are in the table. */
const STORED: Readonly<Record<ExportColumn, readonly [ColumnType, string]>> = {
  seq: ['number', 'seq'],
  at: ['time', 'time_ms'],
  recordedAt: ['time', 'recorded_ms'],
  source: ['text', 'source'],
  kind: ['text', 'kind'],
  application: ['text', 'application'],
  pipeline: ['text', 'pipeline'],
  executionId: ['text', 'execution_id'],
  stage: ['text', 'stage'],
  user: ['text', 'user'],
  status: ['text', 'status'],
  origin: ['text', 'origin'],
  eventId: ['text', 'event_id'],
  bodyBytes: ['number', 'body_bytes'],
  hash: ['bytes', 'hash'],
}

/** The calendar repeats after 400 years. */
const CYCLE_MS = 146_097 * 86_400_000
const YEAR_10000_MS = 253_402_300_800_000

/** A record as one line of an export, as SQL: without the end of an object, so that a body can be put behind it. */
export function lineSql(format: ExportFormat): string {
  if (format === 'csv') return EXPORT_COLUMNS.map(cellSql).join(` || ',' || `)
  return EXPORT_COLUMNS.map(memberSql).join(' || ')
}

/** What comes behind a line, or behind its body. */
export function lineEnd(format: ExportFormat): string {
  return format === 'csv' ? '\n' : '}\n'
}

/** A member that has no value is left out. */
function memberSql(column: ExportColumn): string {
  const [type, stored] = STORED[column]
  const name = `${column === EXPORT_COLUMNS[0] ? '{' : ','}"${column}":`
  if (type === 'number') return `'${name}' || ${stored}`
  if (type === 'time') return `'${name}"' || ${isoTimeSql(stored, '')} || '"'`
  if (type === 'bytes') return `'${name}"' || lower(hex(${stored})) || '"'`
  return `iif(${stored} is null, '', '${name}' || json_quote(${stored}))`
}

function cellSql(column: ExportColumn): string {
  const [type, stored] = STORED[column]
  if (type === 'number') return stored
  if (type === 'time') return isoTimeSql(stored, "''")
  if (type === 'bytes') return `lower(hex(${stored}))`
  const mark = `iif(${isFormulaSql(stored)}, '''', '')`
  const mustQuote = `${stored} glob '*[",]*'`
  return `case when ${stored} is null then ''
    when ${isPlainSql(stored)} and not ${mustQuote} then ${stored}
    when ${mustQuote} then '"' || ${mark} || replace(${stored}, '"', '""') || '"'
    else ${mark} || ${stored} end`
}

/** As `Date.toISOString` writes it, with a mark before the sign of a year beyond 9999, which SQLite itself does not know. */
function isoTimeSql(ms: string, mark: string): string {
  const iso = (of: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', (${of}) / 1000.0, 'unixepoch')`
  const early = iso(`${ms} % ${CYCLE_MS}`)
  const year = `substr(${early}, 1, 4) + 400 * (${ms} / ${CYCLE_MS})`
  return `iif(${ms} < ${YEAR_10000_MS}, ${iso(ms)}, printf('${mark}+%06d%s', ${year}, substr(${early}, 5)))`
}
