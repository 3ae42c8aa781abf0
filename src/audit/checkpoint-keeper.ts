import type { AuditReader, CheckpointReason } from '../store/ports/audit-store.js'
import { writeCheckpoint } from './write-checkpoint.js'
import type { CheckpointDeps } from './write-checkpoint.js'

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
