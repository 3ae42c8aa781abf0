import type { DecisionBatch } from '../../decisions/decision-batch.js'
import { deleteAboveSize, deleteExpired, shrinkFile } from '../../decisions/retention.js'
import type { RetentionPolicy } from '../../decisions/retention.js'
import type { BatchWriter, DecisionWriteStore, WriteReceipt } from '../decision-store.js'

export interface InProcessBatchWriterDeps {
  readonly store: DecisionWriteStore
  readonly retention: RetentionPolicy
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly retentionIntervalMs: number
}

/** Writes in the calling thread and holds the store to its retention: after each batch by size, in time by age. */
export class InProcessBatchWriter implements BatchWriter {
  readonly #deps: InProcessBatchWriterDeps
  readonly #timer: NodeJS.Timeout

  constructor(deps: InProcessBatchWriterDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.retain(), deps.retentionIntervalMs)
    this.#timer.unref()
  }

  write(batch: DecisionBatch): Promise<WriteReceipt> {
    return new Promise((resolve) => {
      resolve(this.#deps.store.insert(batch))
      this.#retain((store, policy) => deleteAboveSize(store, policy))
    })
  }

  /** One bounded round of retention. */
  retain(): void {
    this.#retain((store, policy) => {
      deleteExpired(store, policy, this.#deps.now())
      deleteAboveSize(store, policy)
      shrinkFile(store, policy)
    })
  }

  close(): Promise<void> {
    clearInterval(this.#timer)
    return new Promise((resolve) => {
      this.#deps.store.close()
      resolve()
    })
  }

  #retain(round: (store: DecisionWriteStore, policy: RetentionPolicy) => void): void {
    try {
      round(this.#deps.store, this.#deps.retention)
    } catch {
      // A full or locked disk fails the writes too, and there it is counted and reported; the next round tries again.
    }
  }
}
