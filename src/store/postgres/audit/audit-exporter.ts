import { stringify } from 'csv-stringify/sync'
import { EXPORT_COLUMNS } from '../../ports/audit-export.js'
import type {
  AuditExporter,
  AuditExportPart,
  AuditExportQuery,
  ExportColumn,
  ExportFormat,
} from '../../ports/audit-export.js'
import type { AuditFilter, AuditHead } from '../../ports/audit-store.js'
import { toHead } from '../../tables/audit-table.js'
import type { AuditTable } from '../../tables/audit-table.js'
import { unpackBody } from '../../tables/packed-body.js'
import { marked } from '../../trail/formula-cells.js'
import type { Queries } from '../engine/session.js'
import { all } from '../engine/statements.js'
import { HEADS, readPage } from './audit-search.js'

/**
 * A part with bodies ends at this size, since a few bodies may be as large as a thousand others.
 */
const MAX_PART_BYTES = 4 * 1024 * 1024
/** Number of records whose bodies are fetched together. */
const BODIES_PER_QUERY = 100

type ExportRow = AuditTable & Record<string, unknown>

/** Exports the trail. */
export function makeAuditExporter(queries: Queries): AuditExporter {
  return { part: (query) => exportPart(queries, query) }
}

async function exportPart(queries: Queries, query: AuditExportQuery): Promise<AuditExportPart> {
  const { filter, format, withBodies, limit, after } = query
  const isUnfiltered = isEverything(filter)
  const heads = isUnfiltered
    ? await headsAfter(queries, after?.seq ?? 0, limit)
    : await readPage(queries, { filter, order: 'oldest_first', limit, after })
  const { lines, count } = withBodies
    ? await linesWithBodies(queries, heads, format)
    : { lines: Buffer.from(heads.map((head) => line(format, head)).join('')), count: heads.length }
  const last = heads[count - 1]
  if (last === undefined || (heads.length < limit && count === heads.length)) return { lines, count }
  // Without a filter, the order is that of `seq` alone.
  return { lines, count, next: { timeMs: isUnfiltered ? 0 : last.timeMs, seq: last.seq } }
}

function isEverything(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

async function headsAfter(queries: Queries, seq: number, limit: number): Promise<AuditHead[]> {
  const text = `select ${HEADS} from audit where seq > $1 order by seq limit $2`
  return (await all<ExportRow>(queries, text, [seq, limit])).map(toHead)
}

async function linesWithBodies(
  queries: Queries,
  heads: readonly AuditHead[],
  format: ExportFormat,
): Promise<{ readonly lines: Buffer; readonly count: number }> {
  const lines: Buffer[] = []
  let bytes = 0
  for (let start = 0; start < heads.length && bytes < MAX_PART_BYTES; start += BODIES_PER_QUERY) {
    const some = heads.slice(start, start + BODIES_PER_QUERY)
    const bodies = await readBodies(queries, some)
    for (const head of some) {
      if (bytes >= MAX_PART_BYTES) break
      const written = Buffer.from(line(format, head, bodies.get(head.seq) ?? ''))
      lines.push(written)
      bytes += written.length
    }
  }
  return { lines: Buffer.concat(lines), count: lines.length }
}

async function readBodies(queries: Queries, heads: readonly AuditHead[]): Promise<Map<number, string>> {
  const seqs = heads.map(({ seq }) => seq)
  const text = 'select seq, body, body_bytes from audit where seq = any($1)'
  const rows = await all<ExportRow>(queries, text, [seqs])
  return new Map(rows.map(({ seq, body, body_bytes: bytes }) => [seq, unpackBody(body, bytes).toString()]))
}

function line(format: ExportFormat, head: AuditHead, body?: string): string {
  const values = EXPORT_COLUMNS.map((column) => [column, valueOf(head, column)] as const)
  if (format === 'csv') {
    const cells = values.map(([, value]) => (typeof value === 'string' ? marked(value) : (value ?? '')))
    return stringify([body === undefined ? cells : [...cells, marked(body)]])
  }
  const members = JSON.stringify(Object.fromEntries(values))
  // In JSON, line breaks only occur between tokens.
  const bodyMember = body === undefined ? '' : `,"body":${body.replaceAll(/[\r\n]+/g, ' ')}`
  return `${members.slice(0, -1)}${bodyMember}}\n`
}

function valueOf(head: AuditHead, column: ExportColumn): string | number | undefined {
  if (column === 'at') return new Date(head.timeMs).toISOString()
  if (column === 'recordedAt') return new Date(head.recordedMs).toISOString()
  return head[column]
}
