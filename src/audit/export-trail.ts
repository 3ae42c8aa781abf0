import type { AuditFilter } from '../store/audit-store.js'
import type { Reader } from '../store/readers.js'
import { CSV_HEADER, exportChunk } from './export-chunk.js'
import type { ExportFormat } from './export-chunk.js'

export interface ExportQuery {
  readonly filter: AuditFilter
  readonly format: ExportFormat
  /** Whether each record comes with its body. */
  readonly withBodies: boolean
}

const RECORDS_PER_CHUNK = 2000
/** Bodies may be large: fewer of them are in memory at a time. */
const BODIES_PER_CHUNK = 200

/** All records that match, oldest first, as text in chunks: one is read while the one before is sent. */
export async function* exportTrail(reader: Reader, query: ExportQuery): AsyncGenerator<string> {
  if (query.format === 'csv') yield csvHeader(query)
  const limit = query.withBodies ? BODIES_PER_CHUNK : RECORDS_PER_CHUNK
  let reading = reader.run(exportChunk, { ...query, limit })
  for (;;) {
    const { text, next } = await reading
    if (next !== undefined) {
      reading = reader.run(exportChunk, { ...query, limit, after: next })
      // Whoever stops in between never waits for it.
      reading.catch(() => undefined)
    }
    if (text !== '') yield text
    if (next === undefined) return
  }
}

function csvHeader({ withBodies }: ExportQuery): string {
  return `${CSV_HEADER}${withBodies ? ',body' : ''}\n`
}
