import type { AuditCheckpoint, CheckpointReason } from '../ports/audit-store.js'

/** A checkpoint as it is stored. */
export interface AuditCheckpointTable {
  id: number
  seq: number
  hash: Uint8Array
  at_ms: number
  reason: string
  key_id: string | null
  signature: string | null
}

/** The checkpoint of a row. */
export function toCheckpoint(row: AuditCheckpointTable): AuditCheckpoint {
  return {
    seq: row.seq,
    hash: Buffer.from(row.hash).toString('hex'),
    atMs: row.at_ms,
    reason: row.reason as CheckpointReason,
    keyId: row.key_id ?? undefined,
    signature: row.signature ?? undefined,
  }
}
