import type { DecisionBatch } from './decision-batch.js'
import type { DecisionBatchWriter, DecisionKeeper, WriteReceipt } from './keep-decisions.js'
import { deleteAboveSize, deleteExpired } from './retention.js'
import type { RetentionPolicy } from './retention.js'

export interface InProcessBatchWriterDeps {
  readonly store: DecisionKeeper
  readonly retention: RetentionPolicy
  /** The time by which decisions are old, in milliseconds since the epoch. */
  readonly removalTime: () => number
  readonly retentionIntervalMs: number
}

/** Writes in the calling thread and holds the store to its retention: before each batch by size, in time by age. */
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
      // First, so that a store which cannot delete stops growing: its batches are refused and counted.
      deleteAboveSize(store, retention)
      resolve(store.insert(batch))
    })
  }

  /** One bounded round of retention. */
  retain(): void {
    const { store, retention, removalTime } = this.#deps
    try {
      deleteExpired(store, retention, removalTime())
      deleteAboveSize(store, retention)
      store.releaseSpace(retention.maxBytes)
    } catch {
      // A full or locked disk fails the writes too, and there it is counted and reported; the next round tries again.
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
