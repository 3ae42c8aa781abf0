import type { AuditReader, CheckpointReason, AuditCheckpoint, ChainEnd } from '../store/ports/audit-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { addCheckpoint } from './audit-operations.js'
import type { CheckpointSigner } from './checkpoint-signature.js'

export interface CheckpointKeeperOptions extends CheckpointDeps {
  readonly audit: Pick<AuditReader, 'end' | 'lastCheckpoint'>
  readonly everyRecords: number
  readonly everyMs: number
}

/** Writes a checkpoint after a number of records, or after a time with new records. */
export class CheckpointKeeper {
  readonly #options: CheckpointKeeperOptions

  constructor(options: CheckpointKeeperOptions) {
    this.#options = options
  }

  /** Writes a checkpoint if it is due. Called from time to time. */
  async writeIfDue(): Promise<void> {
    const { audit, everyRecords, everyMs, now } = this.#options
    const [end, last] = [await audit.end(), await audit.lastCheckpoint()]
    const records = end.seq - (last?.seq ?? 0)
    // A clock that was set back makes the age unknown.
    const isLate = records > 0 && Math.abs(now() - (last?.atMs ?? 0)) >= everyMs
    if (records >= everyRecords || isLate) await writeCheckpoint(this.#options, end, 'interval')
  }

  /** Writes a checkpoint unless the last record has one. */
  async writeAtEnd(reason: CheckpointReason): Promise<void> {
    const { audit } = this.#options
    const [end, last] = [await audit.end(), await audit.lastCheckpoint()]
    if (end.seq > (last?.seq ?? 0)) await writeCheckpoint(this.#options, end, reason)
  }
}

export interface CheckpointDeps {
  readonly writer: Writer
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Absent without a configured key. */
  readonly signer: CheckpointSigner | undefined
  /** Called for each checkpoint, so that the log has a copy outside of the database. */
  readonly written: (checkpoint: AuditCheckpoint) => void
}

/** Writes a checkpoint of a position of the chain, signed if there is a key. */
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
