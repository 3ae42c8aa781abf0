import type { AuditCheckpoint, CheckpointReason, ChainEnd } from '../store/ports/audit-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { addCheckpoint } from './audit-operations.js'
import type { CheckpointSigner } from './checkpoint-signature.js'

export interface CheckpointDeps {
  readonly writer: Writer
  /** In milliseconds since the epoch. */
  readonly now: () => number
  /** Absent where no key is configured. */
  readonly signer: CheckpointSigner | undefined
  /** Called for each, so that the log holds them outside of the database. */
  readonly written: (checkpoint: AuditCheckpoint) => void
}

/** Keeps a checkpoint at a place of the chain, signed where there is a key. */
export async function writeCheckpoint(
  { writer, now, signer, written }: CheckpointDeps,
  { seq, hash }: ChainEnd,
  reason: CheckpointReason,
): Promise<void> {
  const statement = { seq, hash, atMs: now(), reason }
  const checkpoint = {
    ...statement,
    ...(signer !== undefined && { keyId: signer.keyId, signature: signer.sign(statement) }),
  }
  await writer.run(addCheckpoint, checkpoint)
  written(checkpoint)
}
