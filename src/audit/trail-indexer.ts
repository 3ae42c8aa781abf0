import type { AuditReader } from '../store/audit-store.js'
import type { Writer } from '../store/transaction.js'
import { indexColumns, indexText, settleEventIds } from './audit-operations.js'

export interface TrailIndexerDeps {
  readonly writer: Writer
  readonly progress: AuditReader['progress']
}

/** Records that make a full step: fewer wait for more while the service is busy, and events wait as long as a step takes. */
const COLUMNS_STEP = 1000
const IDS_GATHERED = 20_000
const IDS_STEP = 1000
const TEXT_STEP = 20
const TEXT_STEP_BYTES = 1024 * 1024
/** More new records than this between two looks, and free text gets one step only. */
const BUSY_RECORDS = 200

/** Keeps the search close behind the trail: a look every so often, without ever holding up the writing for long. */
export class TrailIndexer {
  readonly #deps: TrailIndexerDeps
  #endSeq = 0
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
    while (isDue && !this.#isStopped) isDue = await this.#step(isBusy)
  }

  /** Takes no further step after the one under way. */
  stop(): void {
    this.#isStopped = true
  }

  /** Gives whether another step is due. */
  async #step(isBusy: boolean): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { columnsSeq, textSeq, keysSeq, endSeq } = await progress()
    const isColumnsDue = isBusy ? endSeq - columnsSeq >= COLUMNS_STEP : endSeq > columnsSeq
    if (isColumnsDue) await writer.run(indexColumns, { limit: COLUMNS_STEP })
    const isSettling =
      endSeq - keysSeq >= IDS_GATHERED &&
      (await writer.run(settleEventIds, { limit: IDS_STEP, gathered: IDS_GATHERED }))
    if (endSeq > textSeq) await writer.run(indexText, { limit: TEXT_STEP, maxBytes: TEXT_STEP_BYTES })
    const isFarBehind = isSettling || endSeq - columnsSeq >= 2 * COLUMNS_STEP
    return isFarBehind || (!isBusy && (endSeq - columnsSeq > COLUMNS_STEP || endSeq - textSeq > TEXT_STEP))
  }
}
