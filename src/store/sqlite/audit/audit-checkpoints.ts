import type { Database } from 'better-sqlite3'
import { AppError } from '../../../errors/app-error.js'
import type { AuditCheckpoint } from '../../ports/audit-store.js'

/** Returns a function that keeps a checkpoint of a link that the chain has; it raises `conflict` for any other. */
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
