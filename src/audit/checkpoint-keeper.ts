import type { AuditReader, CheckpointReason, AuditCheckpoint, ChainEnd } from '../store/ports/audit-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { addCheckpoint } from './audit-operations.js'
import type { CheckpointSigner } from './checkpoint-signature.js'

export interface CheckpointKeeperOptions extends CheckpointDeps {
  readonly audit: Pick<AuditReader, 'end' | 'lastCheckpoint'>
  readonly everyRecords: number
  readonly everyMs: number
}

/** Writes a checkpoint after this many records, and after so long when there are new ones. */
export class CheckpointKeeper {
  readonly #options: CheckpointKeeperOptions

  constructor(options: CheckpointKeeperOptions) {
    this.#options = options
  }

  /** Writes one if it is due; to be called every now and then. */
  async writeIfDue(): Promise<void> {
    const { audit, everyRecords, everyMs, now } = this.#options
    const [end, last] = [await audit.end(), await audit.lastCheckpoint()]
    const records = end.seq - (last?.seq ?? 0)
    // Of a clock that was set back, nobody knows how much later it is.
    const isLate = records > 0 && Math.abs(now() - (last?.atMs ?? 0)) >= everyMs
    if (records >= everyRecords || isLate) await writeCheckpoint(this.#options, end, 'interval')
  }

  /** Writes one unless the last record has one. */
  async writeAtEnd(reason: CheckpointReason): Promise<void> {
    const { audit } = this.#options
    const [end, last] = [await audit.end(), await audit.lastCheckpoint()]
    if (end.seq > (last?.seq ?? 0)) await writeCheckpoint(this.#options, end, reason)
  }
}

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
