import type { DecisionBatch } from './decision-batch.js'
import type { DecisionBatchWriter, DecisionKeeper, WriteReceipt } from './keep-decisions.js'
import { deleteAboveSize, deleteExpired } from './retention.js'
import type { RetentionPolicy } from './retention.js'

export interface InProcessBatchWriterDeps {
  readonly store: DecisionKeeper
  readonly retention: RetentionPolicy
  /** Clock for the age of decisions, in epoch milliseconds. */
  readonly removalTime: () => number
  readonly retentionIntervalMs: number
}

/**
 * Writes on the calling thread and applies retention: by size before each batch, by age at
 * intervals.
 */
export class InProcessBatchWriter implements DecisionBatchWriter {
  readonly #deps: InProcessBatchWriterDeps
  readonly #timer: NodeJS.Timeout

  constructor(deps: InProcessBatchWriterDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => this.retain(), deps.retentionIntervalMs)
    this.#timer.unref()
  }

  write(batch: DecisionBatch): Promise<WriteReceipt> {
    const { store, retention } = this.#deps
    return new Promise((resolve) => {
      // First, so that a store that cannot delete stops growing: its batches fail and are counted.
      deleteAboveSize(store, retention)
      const receipt = store.insert(batch)
      resolve({ ...receipt, detailRemoved: store.takeDetailRemoved() })
    })
  }

  /** Runs one bounded step of retention. */
  retain(): void {
    const { store, retention, removalTime } = this.#deps
    try {
      deleteExpired(store, retention, removalTime())
      deleteAboveSize(store, retention)
      store.releaseSpace(retention.maxBytes)
    } catch {
      // Writes fail, too, on a full or locked disk, and are counted and reported. The next step
      // tries again.
    }
  }

  close(): Promise<void> {
    clearInterval(this.#timer)
    return new Promise((resolve) => {
      this.#deps.store.close()
      resolve()
    })
  }
}
