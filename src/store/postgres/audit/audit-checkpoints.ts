import { AppError } from '../../../errors/app-error.js'
import type { AuditCheckpoint, AuditReader } from '../../ports/audit-store.js'
import { toCheckpoint } from '../../trail/checkpoint-row.js'
import type { AuditCheckpointTable } from '../../trail/checkpoint-row.js'
import type { Queries } from '../engine/session.js'
import { all, first, run } from '../engine/statements.js'

type CheckpointRow = AuditCheckpointTable & Record<string, unknown>

/** Reads checkpoints. */
export function checkpointReader(queries: Queries): Pick<AuditReader, 'checkpoints' | 'lastCheckpoint'> {
  return {
    checkpoints: async (fromSeq) => {
      const text = 'select * from audit_checkpoints where seq >= $1 order by seq, id'
      return (await all<CheckpointRow>(queries, text, [fromSeq])).map(toCheckpoint)
    },
    lastCheckpoint: async () => {
      const text = 'select * from audit_checkpoints order by seq desc, id desc limit 1'
      const row = await first<CheckpointRow>(queries, text)
      return row && toCheckpoint(row)
    },
  }
}

/** Keeps a checkpoint of a link that the chain has; raises `conflict` for any other. */
export async function addCheckpoint(
  queries: Queries,
  { seq, hash, atMs, reason, keyId, signature }: AuditCheckpoint,
): Promise<void> {
  const stored = await first<{ hash: Buffer }>(queries, 'select hash from audit where seq = $1', [seq])
  const link = Buffer.from(hash, 'hex')
  if (stored === undefined || !link.equals(stored.hash)) {
    throw new AppError('conflict', `audit record ${seq} has another hash than the checkpoint says`)
  }
  await run(
    queries,
    'insert into audit_checkpoints (seq, hash, at_ms, reason, key_id, signature) values ($1, $2, $3, $4, $5, $6)',
    [seq, link, atMs, reason, keyId ?? null, signature ?? null],
  )
}
