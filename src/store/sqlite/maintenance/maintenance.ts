import type { StoreMaintenance } from '../../ports/maintenance.js'
import type { Runner } from '../../ports/operation.js'
import type { IndexProgress } from '../audit/audit-end.js'
import {
  indexColumns,
  indexText,
  mergeText,
  settleEventIds,
  releaseFreeSpace,
} from './maintenance-operations.js'
import type { SqliteTransaction, MaintenanceStatus } from './sqlite-context.js'

export interface TrailIndexerDeps {
  readonly writer: Runner<SqliteTransaction>
  readonly progress: () => Promise<IndexProgress>
}

/** Number of records whose columns are indexed together. Larger groups are cheaper. */
const COLUMNS_GATHERED = 4000
const IDS_GATHERED = 20_000
/** Size of a step: events, triggers and reviews wait for it. */
const COLUMNS_STEP_VALUES = 1500
const IDS_STEP = 500
const TEXT_STEP = 20
const TEXT_STEP_BYTES = 1024 * 1024
const MERGE_STEP_PAGES = 16
const MERGE_STEP_MS = 3
/** Number of new records between two rounds above which the text index gets a single step. */
const BUSY_RECORDS = 200

/** The steps from the first one until nothing is due. */
interface Round {
  readonly isBusy: boolean
  hasColumns: boolean
}

/** Keeps the indexes up to date: first those of columns and event ids, then the text index. */
export class TrailIndexer {
  readonly #deps: TrailIndexerDeps
  #endSeq = 0
  #isEntering = false
  #isMergeDue = false
  #round: Round | undefined

  constructor(deps: TrailIndexerDeps) {
    this.#deps = deps
  }

  /** Runs a step. Returns whether more is due in this round. */
  async step(): Promise<boolean> {
    const round = this.#round ?? (await this.#begin())
    // A failed step ends its round.
    this.#round = undefined
    const isMoreDue = await this.#continue(round)
    if (isMoreDue) this.#round = round
    return isMoreDue
  }

  async #begin(): Promise<Round> {
    const { endSeq } = await this.#deps.progress()
    const isBusy = this.#endSeq > 0 && endSeq - this.#endSeq > BUSY_RECORDS
    this.#endSeq = endSeq
    return { isBusy, hasColumns: true }
  }

  async #continue(round: Round): Promise<boolean> {
    if (round.hasColumns) {
      if (await this.#stepColumns(round.isBusy)) return true
      round.hasColumns = false
    }
    return (await this.#stepText()) && !round.isBusy
  }

  /** Returns whether there was something to do. */
  async #stepColumns(isBusy: boolean): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { columnsSeq, keysSeq, endSeq } = await progress()
    const isDue = this.#isEntering || endSeq - columnsSeq >= (isBusy ? COLUMNS_GATHERED : 1)
    if (isDue) {
      const step = { records: COLUMNS_GATHERED, values: COLUMNS_STEP_VALUES }
      this.#isEntering = await writer.run(indexColumns, step)
    }
    const isSettling =
      endSeq - keysSeq >= IDS_GATHERED && (await writer.run(settleEventIds, { limit: IDS_STEP }))
    return isDue || isSettling
  }

  /** Returns whether there was something to do. */
  async #stepText(): Promise<boolean> {
    const { writer, progress } = this.#deps
    const { textSeq, endSeq } = await progress()
    const isDue = endSeq > textSeq
    if (!isDue && !this.#isMergeDue) return false
    if (isDue) await writer.run(indexText, { limit: TEXT_STEP, maxBytes: TEXT_STEP_BYTES })
    this.#isMergeDue = await writer.run(mergeText, { pages: MERGE_STEP_PAGES, maxMs: MERGE_STEP_MS })
    return true
  }
}

const RELEASING_STEP = { maxBytes: 2 * 1024 * 1024, maxMs: 3 }

/**
 * Makes the maintenance of `tidegate.db`. If nothing is due, nothing is written and no thread
 * started.
 */
export function makeMaintenance(
  writer: Runner<SqliteTransaction>,
  status: MaintenanceStatus,
): StoreMaintenance {
  const indexer = new TrailIndexer({ writer, progress: () => status.progress() })
  const releaseSpace = async (): Promise<boolean> =>
    (await status.freeBytes()) > 0 && (await writer.run(releaseFreeSpace, RELEASING_STEP))
  return { step: (task) => (task === 'search' ? indexer.step() : releaseSpace()) }
}
