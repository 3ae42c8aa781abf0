import { EXPORT_COLUMNS } from '../store/audit-export.js'
import type { AuditExportQuery } from '../store/audit-export.js'
import type { Reader } from '../store/readers.js'
import { exportChunk } from './export-chunk.js'

/** Which records, and as what. */
export type ExportQuery = Pick<AuditExportQuery, 'filter' | 'format' | 'withBodies'>

const RECORDS_PER_CHUNK = 2000
/** Bodies may be large: fewer of them are in memory at a time. */
const BODIES_PER_CHUNK = 200

/** All records that match, as lines in UTF-8, in chunks: one is read while the one before is sent. */
export async function* exportTrail(reader: Reader, query: ExportQuery): AsyncGenerator<Uint8Array, void> {
  if (query.format === 'csv') yield new TextEncoder().encode(csvHeader(query))
  const limit = query.withBodies ? BODIES_PER_CHUNK : RECORDS_PER_CHUNK
  let reading = reader.run(exportChunk, { ...query, limit })
  for (;;) {
    const { lines, next } = await reading
    if (next !== undefined) {
      reading = reader.run(exportChunk, { ...query, limit, after: next })
      // Whoever stops in between never waits for it.
      reading.catch(() => undefined)
    }
    if (lines.byteLength > 0) yield lines
    if (next === undefined) return
  }
}

function csvHeader({ withBodies }: ExportQuery): string {
  return `${EXPORT_COLUMNS.join(',')}${withBodies ? ',body' : ''}\n`
}
