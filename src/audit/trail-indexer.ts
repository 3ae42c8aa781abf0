import type { AuditReader } from '../store/ports/audit-store.js'
import type { Writer } from '../store/ports/transaction.js'
import { indexColumns, indexText, mergeText, settleEventIds } from './audit-operations.js'

export interface TrailIndexerDeps {
  readonly writer: Writer
  readonly progress: AuditReader['progress']
}

/** Records whose columns are indexed together: fewer wait for more while the service is busy, and the more the cheaper. */
const COLUMNS_GATHERED = 4000
const IDS_GATHERED = 20_000
/** How much a step does: events, triggers and reviews wait as long as it takes. */
const COLUMNS_STEP_VALUES = 1500
const IDS_STEP = 500
const TEXT_STEP = 20
const TEXT_STEP_BYTES = 1024 * 1024
const MERGE_STEP_PAGES = 16
/** More new records than this between two looks, and free text gets one step only. */
const BUSY_RECORDS = 200

/** Keeps the search close behind the trail: a look every so often, without ever holding up the writing for long. */
export class TrailIndexer {
  readonly #deps: TrailIndexerDeps
  #endSeq = 0
  #isEntering = false
  #isMergeDue = false
  #isStopped = false

  constructor(deps: TrailIndexerDeps) {
    this.#deps = deps
  }

  /** One look, and the steps that it finds due. */
  async catchUp(): Promise<void> {
    const { endSeq } = await this.#deps.progress()
    const isBusy = this.#endSeq > 0 && endSeq - this.#endSeq > BUSY_RECORDS
    this.#endSeq = endSeq
    let isDue = true
    while (isDue && !this.#isStopped) isDue = await this.#stepColumns(isBusy)
    isDue = true
    while (isDue && !this.#isStopped) isDue = (await this.#stepText()) && !isBusy
  }

  /** Takes no further step after the one under way. */
  stop(): void {
    this.#isStopped = true
  }

  /** Gives whether there was something to do. */
  async #stepColumns(isBusy: boolean): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { columnsSeq, keysSeq, endSeq } = await progress()
    const isDue = this.#isEntering || endSeq - columnsSeq >= (isBusy ? COLUMNS_GATHERED : 1)
    if (isDue) {
      const step = { records: COLUMNS_GATHERED, values: COLUMNS_STEP_VALUES }
      this.#isEntering = await writer.run(indexColumns, step)
    }
    const isSettling =
      endSeq - keysSeq >= IDS_GATHERED &&
      (await writer.run(settleEventIds, { limit: IDS_STEP, gathered: IDS_GATHERED }))
    return isDue || isSettling
  }

  /** Gives whether there was something to do. */
  async #stepText(): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { textSeq, endSeq } = await progress()
    const isDue = endSeq > textSeq
    if (!isDue && !this.#isMergeDue) return false
    if (isDue) await writer.run(indexText, { limit: TEXT_STEP, maxBytes: TEXT_STEP_BYTES })
    this.#isMergeDue = await writer.run(mergeText, { pages: MERGE_STEP_PAGES })
    return true
  }
}
