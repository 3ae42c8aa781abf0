import { EXPORT_COLUMNS } from '../store/ports/audit-export.js'
import type { AuditExportQuery } from '../store/ports/audit-export.js'
import type { Reader } from '../store/ports/readers.js'
import { exportChunk } from './audit-operations.js'

/** Which records, and as what. */
export type ExportQuery = Pick<AuditExportQuery, 'filter' | 'format' | 'withBodies'>

const RECORDS_PER_CHUNK = 2000
/** Bodies may be large: fewer of them are in memory at a time. */
const BODIES_PER_CHUNK = 200

/**
 * All records that match, as lines in UTF-8, in chunks: one is read while the one before is sent. A last line says how many records
 * there were, so that whoever has it has all of them.
 */
export async function* exportTrail(reader: Reader, query: ExportQuery): AsyncGenerator<Uint8Array, void> {
  const limit = query.withBodies ? BODIES_PER_CHUNK : RECORDS_PER_CHUNK
  let records = 0
  let reading = reader.run(exportChunk, { ...query, limit })
  // Nothing is handed out of a trail that cannot be read.
  await reading
  if (query.format === 'csv') yield new TextEncoder().encode(csvHeader(query))
  for (;;) {
    const { lines, count, next } = await reading
    if (next !== undefined) {
      reading = reader.run(exportChunk, { ...query, limit, after: next })
      // Whoever stops in between never waits for it.
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

/** In a sheet it is a row like the others: `end`, the number, and nothing in the other columns. */
function exportEnd(query: ExportQuery, records: number): string {
  if (query.format === 'ndjson') return `{"end":{"records":${records}}}\n`
  return `end,${records}${','.repeat(csvColumns(query).length - 2)}\n`
}

function csvColumns({ withBodies }: ExportQuery): readonly string[] {
  return withBodies ? [...EXPORT_COLUMNS, 'body'] : EXPORT_COLUMNS
}

const NDJSON_END = /^\{"end":\{"records":(?<records>\d+)\}\}$/
const CSV_END = /^end,(?<records>\d+),+$/
/** No last line is longer. */
const LONGEST = 200

/** Watches an export go by for the line that says that it is whole. */
export class ExportEnd {
  #tail = ''

  /** The next bytes of the export. */
  pass(chunk: Uint8Array): void {
    const end = Buffer.from(chunk.subarray(Math.max(0, chunk.length - LONGEST))).toString('latin1')
    this.#tail = (this.#tail + end).slice(-LONGEST)
  }

  /** How many records the last line tells of; undefined while there is none, so that what came is not all. */
  get records(): number | undefined {
    if (!this.#tail.endsWith('\n')) return undefined
    const line = this.#tail.trimEnd().split('\n').at(-1) ?? ''
    const records = (NDJSON_END.exec(line) ?? CSV_END.exec(line))?.groups?.['records']
    return records === undefined ? undefined : Number(records)
  }
}
