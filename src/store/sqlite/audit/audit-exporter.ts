import type { Database } from 'better-sqlite3'
import { stringify } from 'csv-stringify/sync'
import { EXPORT_COLUMNS } from '../../ports/audit-export.js'
import type {
  AuditExporter,
  AuditExportPart,
  AuditExportQuery,
  ExportFormat,
  ExportColumn,
} from '../../ports/audit-export.js'
import type { AuditFilter } from '../../ports/audit-store.js'
import { unpackBody } from '../../tables/packed-body.js'
import { marked, isFormulaSql, isPlainSql } from '../../trail/formula-cells.js'
import { makePageReader } from './audit-search.js'

type Joined = readonly [lines: Uint8Array | null, count: number, lastSeq: number | null]
type LineWithBody = readonly [line: string, body: Uint8Array, bodyBytes: number, seq: number]

const AFTER_SEQ = 'select * from audit where seq > ? order by seq limit ?'
const LISTED = `select audit.* from json_each(?) as wanted cross join audit on audit.seq = wanted.value
  order by wanted.key limit ?`

/**
 * A part with bodies ends at this size, since a few bodies may be as large as a thousand others.
 */
const MAX_PART_BYTES = 4 * 1024 * 1024

/**
 * Exports the trail on any connection. SQLite writes the lines: an object per record would cost
 * several times as much.
 */
export function makeAuditExporter(database: Database): AuditExporter {
  const writeAll = lineWriters(database, AFTER_SEQ)
  const writeListed = lineWriters(database, LISTED)
  const readPage = makePageReader(database)
  const part = ({ filter, format, withBodies, limit, after }: AuditExportQuery): AuditExportPart => {
    if (isEverything(filter)) {
      const { lines, count, lastSeq, isCut } = writeAll[format](after?.seq ?? 0, limit, withBodies)
      // Without a filter, the order is that of `seq` alone.
      return count < limit && !isCut ? { lines, count } : { lines, count, next: { timeMs: 0, seq: lastSeq } }
    }
    const heads = readPage({ filter, order: 'oldest_first', limit, after })
    const wanted = JSON.stringify(heads.map(({ seq }) => seq))
    const { lines, count, isCut } = writeListed[format](wanted, limit, withBodies)
    const last = heads.length < limit && !isCut ? undefined : heads[count - 1]
    return last === undefined
      ? { lines, count }
      : { lines, count, next: { timeMs: last.timeMs, seq: last.seq } }
  }
  return { part: (query) => Promise.resolve(part(query)) }
}

function isEverything(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

interface Lines {
  readonly lines: Uint8Array
  readonly count: number
  readonly lastSeq: number
  /** Whether the size limit ended the part. */
  readonly isCut: boolean
}

type WriteLines = (which: number | string, limit: number, withBodies: boolean) => Lines

/**
 * Line writers for a selection of records. Its parameters are the start or the list of records, and
 * the limit.
 */
function lineWriters(database: Database, rows: string): Readonly<Record<ExportFormat, WriteLines>> {
  return { ndjson: lineWriter(database, rows, 'ndjson'), csv: lineWriter(database, rows, 'csv') }
}

function lineWriter(database: Database, rows: string, format: ExportFormat): WriteLines {
  const line = lineSql(format)
  const joined = `cast(group_concat(${line} || '${lineEnd(format)}', '') as blob)`
  const selectJoined = database
    .prepare<[number | string, number], Joined>(`select ${joined}, count(*), max(seq) from (${rows})`)
    .raw(true)
  const selectLines = database
    .prepare<[number | string, number], LineWithBody>(`select ${line}, body, body_bytes, seq from (${rows})`)
    .raw(true)
  return (which, limit, withBodies) => {
    if (!withBodies) {
      const [lines, count, lastSeq] = selectJoined.get(which, limit) ?? [null, 0, null]
      return { lines: lines ?? new Uint8Array(), count, lastSeq: lastSeq ?? 0, isCut: false }
    }
    return joinWithBodies(format, selectLines.iterate(which, limit))
  }
}

function joinWithBodies(format: ExportFormat, found: Iterable<LineWithBody>): Lines {
  const lines: Buffer[] = []
  let bytes = 0
  let lastSeq = 0
  for (const one of found) {
    if (bytes >= MAX_PART_BYTES)
      return { lines: Buffer.concat(lines), count: lines.length, lastSeq, isCut: true }
    const line = Buffer.from(withBody(format, one))
    lines.push(line)
    bytes += line.length
    lastSeq = one[3]
  }
  return { lines: Buffer.concat(lines), count: lines.length, lastSeq, isCut: false }
}

function withBody(format: ExportFormat, [line, packed, bytes]: LineWithBody): string {
  const body = unpackBody(packed, bytes).toString()
  // The library ends the cell with a line break.
  if (format === 'csv') return `${line},${stringify([[marked(body)]])}`
  return `${line},"body":${oneLine(body)}${lineEnd(format)}`
}

/** In JSON, line breaks only occur between tokens. */
function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ')
}

type ColumnType = 'number' | 'time' | 'text' | 'bytes'

/** Type and table column of each exported column. */
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

/** Length of the calendar's cycle of 400 years. */
const CYCLE_MS = 146_097 * 86_400_000
const YEAR_10000_MS = 253_402_300_800_000

/** SQL of a record as one line. The JSON object is left open, so that a body can be added. */
function lineSql(format: ExportFormat): string {
  if (format === 'csv') return EXPORT_COLUMNS.map(cellSql).join(` || ',' || `)
  return EXPORT_COLUMNS.map(memberSql).join(' || ')
}

/** End of a line after the optional body. */
function lineEnd(format: ExportFormat): string {
  return format === 'csv' ? '\n' : '}\n'
}

/** SQL of a JSON member; empty for a null. */
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

/**
 * Formats a time like `Date.toISOString`. SQLite does not support years above 9999, whose sign gets
 * the prefix `mark`.
 */
function isoTimeSql(ms: string, mark: string): string {
  const iso = (of: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', (${of}) / 1000.0, 'unixepoch')`
  const early = iso(`${ms} % ${CYCLE_MS}`)
  const year = `substr(${early}, 1, 4) + 400 * (${ms} / ${CYCLE_MS})`
  return `iif(${ms} < ${YEAR_10000_MS}, ${iso(ms)}, printf('${mark}+%06d%s', ${year}, substr(${early}, 5)))`
}
