import type { AuditEntry } from '../ports/audit-store.js'
import type { LinkedRow } from './audit-chain.js'

/** Length at which a column's text is cut. The body has the whole text. */
const MAX_COLUMN_LENGTH = 500
/** Control characters, which separate columns in the chain and must not occur in them. */
const CONTROLS = /\p{Cc}+/gu
const SURROGATES = /[\ud800-\udfff]/

/** Returns the stored columns of a record at a position and time of the chain. */
export function toLinkedRow(seq: number, recordedMs: number, entry: AuditEntry): LinkedRow {
  return {
    seq,
    time_ms: Math.trunc(entry.timeMs),
    recorded_ms: Math.trunc(recordedMs),
    source: entry.source,
    kind: columnText(entry.kind) ?? '',
    application: columnText(entry.application),
    pipeline: columnText(entry.pipeline),
    execution_id: columnText(entry.executionId),
    stage: columnText(entry.stage),
    user: columnText(entry.user),
    status: columnText(entry.status),
    origin: columnText(entry.origin),
    event_id: columnText(entry.eventId),
    body_bytes: entry.body.byteLength,
  }
}

/** Returns a text as it is stored in a column. */
export function columnText(text: string | undefined): string | null {
  if (text === undefined) return null
  const clean = text.slice(0, MAX_COLUMN_LENGTH).replace(CONTROLS, ' ')
  // The database replaces half a surrogate pair, which is invalid UTF-8.
  return SURROGATES.test(clean) ? Buffer.from(clean).toString() : clean
}
