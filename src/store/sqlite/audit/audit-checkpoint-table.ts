import type { Database } from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import type { AuditCheckpoint, CheckpointReason } from '../../ports/audit-store.js'

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

/** Gives a function that keeps a checkpoint of a link that the chain has; it raises `conflict` for any other. */
export function makeCheckpointKeeper(database: Database): (checkpoint: AuditCheckpoint) => void {
  const selectHash = database.prepare<[number], { hash: Uint8Array }>('select hash from audit where seq = ?')
  const insert = database.prepare(
    'insert into audit_checkpoints (seq, hash, at_ms, reason, key_id, signature) values (?, ?, ?, ?, ?, ?)',
  )
  return ({ seq, hash, atMs, reason, keyId, signature }) => {
    const stored = selectHash.get(seq)
    const link = Buffer.from(hash, 'hex')
    if (stored === undefined || !link.equals(stored.hash)) {
      throw new AppError('conflict', `audit record ${seq} has another hash than the checkpoint says`)
    }
    insert.run(seq, link, atMs, reason, keyId ?? null, signature ?? null)
  }
}
