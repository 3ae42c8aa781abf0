import { stringify } from 'csv-stringify/sync'
import type { AuditFilter, AuditHead, AuditPosition } from '../store/audit-store.js'
import type { ReadOperation } from '../store/readers.js'
import { toRecordView } from './record-view.js'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** A part of an export, oldest records first. */
export interface ExportChunkQuery {
  readonly filter: AuditFilter
  readonly format: ExportFormat
  readonly withBodies: boolean
  readonly limit: number
  readonly after?: AuditPosition | undefined
}

export interface ExportChunk {
  readonly text: string
  /** Where to go on; absent after the last chunk. */
  readonly next?: AuditPosition | undefined
}

/** The columns of an export as CSV, in this order. */
const CSV_COLUMNS = [
  'seq',
  'at',
  'recordedAt',
  'source',
  'kind',
  'application',
  'pipeline',
  'executionId',
  'stage',
  'user',
  'status',
  'origin',
  'eventId',
  'bodyBytes',
  'hash',
] as const

/** The first line of an export as CSV, but for the body. */
export const CSV_HEADER = CSV_COLUMNS.join(',')

/** Reads records and writes them as text, so that only text crosses to the thread that sends it. */
export const exportChunk: ReadOperation<ExportChunkQuery, ExportChunk> = {
  name: 'audit.export-chunk',
  apply: async ({ audit }, { filter, format, withBodies, limit, after }) => {
    const records = await audit.page({ filter, order: 'oldest_first', limit, after })
    const bodies = withBodies ? await audit.bodies(records.map(({ seq }) => seq)) : undefined
    const lines = records.map((record, index) => ({ record, body: bodies?.[index] }))
    const text = format === 'csv' ? csv(lines, withBodies) : lines.map(toNdjson).join('')
    const last = records.length === limit ? records.at(-1) : undefined
    return last === undefined ? { text } : { text, next: { timeMs: last.timeMs, seq: last.seq } }
  },
}

interface ExportLine {
  readonly record: AuditHead
  readonly body: Uint8Array | undefined
}

/** The body stands in the line as it is: it is JSON on one line, or is made so. */
function toNdjson({ record, body }: ExportLine): string {
  const head = JSON.stringify(toRecordView(record))
  return body === undefined ? `${head}\n` : `${head.slice(0, -1)},"body":${oneLine(body)}}\n`
}

/** Line breaks in JSON stand between its tokens only. */
function oneLine(body: Uint8Array): string {
  return Buffer.from(body)
    .toString()
    .replaceAll(/[\r\n]+/g, ' ')
}

function csv(lines: readonly ExportLine[], withBodies: boolean): string {
  return stringify(
    lines.map(({ record, body }) => {
      const view = toRecordView(record)
      const cells = CSV_COLUMNS.map((column) => view[column])
      return withBodies && body !== undefined ? [...cells, Buffer.from(body).toString()] : cells
    }),
    { escape_formulas: true },
  )
}
