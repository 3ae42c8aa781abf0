import type { AuditEntry } from '../ports/audit-store.js'
import type { LinkedRow } from './audit-chain.js'

/** Longer texts are cut: the whole of them is in the body. */
const MAX_COLUMN_LENGTH = 500
/** None may reach the chain, which keeps its columns apart by them. */
const CONTROLS = /\p{Cc}+/gu
const SURROGATES = /[\ud800-\udfff]/

/** The columns of a record as they are stored, at a place and time of the chain. */
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

/** A text as it is stored in a column. */
export function columnText(text: string | undefined): string | null {
  if (text === undefined) return null
  const clean = text.slice(0, MAX_COLUMN_LENGTH).replace(CONTROLS, ' ')
  // As the database gives it back: half a surrogate pair is no UTF-8.
  return SURROGATES.test(clean) ? Buffer.from(clean).toString() : clean
}
