import { EXPORT_COLUMNS } from '../store/ports/audit-export.js'
import type { AuditExportQuery } from '../store/ports/audit-export.js'
import type { Reader } from '../store/ports/readers.js'
import { exportChunk } from './audit-operations.js'

/** Filter and format of an export. */
export type ExportQuery = Pick<AuditExportQuery, 'filter' | 'format' | 'withBodies'>

const RECORDS_PER_CHUNK = 2000
/** Low, since bodies may be large. */
const BODIES_PER_CHUNK = 200

/**
 * Exports all matching records as lines in UTF-8, in chunks. The next chunk is read while one is
 * sent. The last line has the number of records, which proves that the export is complete.
 */
export async function* exportTrail(reader: Reader, query: ExportQuery): AsyncGenerator<Uint8Array, void> {
  const limit = query.withBodies ? BODIES_PER_CHUNK : RECORDS_PER_CHUNK
  let records = 0
  let reading = reader.run(exportChunk, { ...query, limit })
  // An unreadable trail fails before the first byte.
  await reading
  if (query.format === 'csv') yield new TextEncoder().encode(csvHeader(query))
  for (;;) {
    const { lines, count, next } = await reading
    if (next !== undefined) {
      reading = reader.run(exportChunk, { ...query, limit, after: next })
      // A consumer that stops early never awaits it.
      reading.catch(() => undefined)
    }
    records += count
    if (lines.byteLength > 0) yield lines
    if (next === undefined) break
  }
  yield new TextEncoder().encode(exportEnd(query, records))
}

function csvHeader(query: ExportQuery): string {
  return `${csvColumns(query).join(',')}\n`
}

/** In CSV, the last line is a row with `end` and the number of records. */
function exportEnd(query: ExportQuery, records: number): string {
  if (query.format === 'ndjson') return `{"end":{"records":${records}}}\n`
  return `end,${records}${','.repeat(csvColumns(query).length - 2)}\n`
}

function csvColumns({ withBodies }: ExportQuery): readonly string[] {
  return withBodies ? [...EXPORT_COLUMNS, 'body'] : EXPORT_COLUMNS
}

const NDJSON_END = /^\{"end":\{"records":(?<records>\d+)\}\}$/
const CSV_END = /^end,(?<records>\d+),+$/
/** Highest length of the last line. */
const MAX_END_LENGTH = 200

/** Watches the bytes of an export for the last line. */
export class ExportEnd {
  #tail = ''

  /** Passes the next bytes. */
  pass(chunk: Uint8Array): void {
    const end = Buffer.from(chunk.subarray(Math.max(0, chunk.length - MAX_END_LENGTH))).toString('latin1')
    this.#tail = (this.#tail + end).slice(-MAX_END_LENGTH)
  }

  /** Number of records in the last line; undefined if the export is incomplete. */
  get records(): number | undefined {
    if (!this.#tail.endsWith('\n')) return undefined
    const line = this.#tail.trimEnd().split('\n').at(-1) ?? ''
    const records = (NDJSON_END.exec(line) ?? CSV_END.exec(line))?.groups?.['records']
    return records === undefined ? undefined : Number(records)
  }
}
