import { stringify } from 'csv-stringify/sync'
import { EXPORT_COLUMNS } from '../ports/audit-export.js'
import type {
  AuditExporter,
  AuditExportPart,
  AuditExportQuery,
  ExportColumn,
  ExportFormat,
} from '../ports/audit-export.js'
import type { AuditFilter, AuditHead, AuditReader } from '../ports/audit-store.js'
import type { TrailQueries } from './trail-queries.js'

/** The reads of an export. */
interface ExportReads extends Pick<TrailQueries, 'headsAfter' | 'bodies'> {
  readonly page: AuditReader['page']
}

/**
 * Characters with which a spreadsheet cell is a formula (OWASP, CSV injection), full-width and
 * small forms included.
 */
const FORMULA_STARTS = String.raw`\-=+@|%\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20`
/**
 * Characters that spreadsheets skip or treat as the end of a cell, so that a formula may follow:
 * semicolons, spaces, control and invisible characters.
 */
const SKIPPED = [
  String.raw`; \u007f-\u00a0\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000`,
  String.raw`\ufeff\ufff9-\ufffb\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0001}-\u{e007f}`,
].join('')
const FORMULA = new RegExp(String.raw`^[\s\u0000-\u001f"'${SKIPPED}]*[${FORMULA_STARTS}]`, 'u')
/**
 * A part with bodies ends at this size, since a few bodies may be as large as a thousand others.
 */
const MAX_PART_BYTES = 4 * 1024 * 1024
/** Number of records whose bodies are fetched together. */
const BODIES_PER_QUERY = 100

/** Exports the trail. */
export function makeAuditExporter(reads: ExportReads): AuditExporter {
  return { part: (query) => exportPart(reads, query) }
}

async function exportPart(reads: ExportReads, query: AuditExportQuery): Promise<AuditExportPart> {
  const { filter, format, withBodies, limit, after } = query
  const isUnfiltered = hasNoConditions(filter)
  const heads = isUnfiltered
    ? await reads.headsAfter(after?.seq ?? 0, limit)
    : await reads.page({ filter, order: 'oldest_first', limit, after })
  const { lines, count } = withBodies
    ? await linesWithBodies(reads, heads, format)
    : { lines: Buffer.from(linesOf(format, heads)), count: heads.length }
  const last = heads[count - 1]
  if (last === undefined || (heads.length < limit && count === heads.length)) return { lines, count }
  // Without a filter, the order is that of `seq` alone.
  return { lines, count, next: { timeMs: isUnfiltered ? 0 : last.timeMs, seq: last.seq } }
}

function hasNoConditions(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

async function linesWithBodies(
  reads: ExportReads,
  heads: readonly AuditHead[],
  format: ExportFormat,
): Promise<{ readonly lines: Buffer; readonly count: number }> {
  const lines: Buffer[] = []
  let bytes = 0
  for (let start = 0; start < heads.length && bytes < MAX_PART_BYTES; start += BODIES_PER_QUERY) {
    const some = heads.slice(start, start + BODIES_PER_QUERY)
    const bodies = await reads.bodies(some.map(({ seq }) => seq))
    for (const [index, head] of some.entries()) {
      if (bytes >= MAX_PART_BYTES) break
      const line = Buffer.from(lineWithBody(format, head, Buffer.from(bodies[index] ?? []).toString()))
      lines.push(line)
      bytes += line.length
    }
  }
  return { lines: Buffer.concat(lines), count: lines.length }
}

function linesOf(format: ExportFormat, heads: readonly AuditHead[]): string {
  if (format === 'csv') return stringify(heads.map(cellsOf))
  return heads.map((head) => `${membersOf(head)}}\n`).join('')
}

function lineWithBody(format: ExportFormat, head: AuditHead, body: string): string {
  if (format === 'csv') return stringify([[...cellsOf(head), marked(body)]])
  // In JSON, line breaks only occur between tokens.
  return `${membersOf(head)},"body":${body.replaceAll(/[\r\n]+/g, ' ')}}\n`
}

function cellsOf(head: AuditHead): (string | number)[] {
  return EXPORT_COLUMNS.map((column) => {
    const value = valueOf(head, column)
    return typeof value === 'string' ? marked(value) : (value ?? '')
  })
}

/** The JSON object of a record without its closing brace. */
function membersOf(head: AuditHead): string {
  const values = EXPORT_COLUMNS.map((column) => [column, valueOf(head, column)] as const)
  return JSON.stringify(Object.fromEntries(values)).slice(0, -1)
}

function valueOf(head: AuditHead, column: ExportColumn): string | number | undefined {
  if (column === 'at') return new Date(head.timeMs).toISOString()
  if (column === 'recordedAt') return new Date(head.recordedMs).toISOString()
  return head[column]
}

/** Prefixes a text that spreadsheets would run as a formula with an apostrophe. */
function marked(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
