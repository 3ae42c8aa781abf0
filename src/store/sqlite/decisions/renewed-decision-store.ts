import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError, toError } from '../../../errors/app-error.js'
import type {
  BatchWriter,
  DecisionCountFilter,
  DecisionFilter,
  DecisionHead,
  DecisionPosition,
  DecisionReadStore,
  DenialCount,
  DenialQuery,
  PageBounds,
  StoredDecision,
  StoredDecisionPage,
} from '../../ports/decision-store.js'
import { closeDecisionFiles } from './decision-files.js'
import type { DecisionFiles, FormerFiles } from './decision-files.js'
import { STORE_DAMAGED, STORE_FAILING, STORE_LOST } from '../engine/sqlite-error.js'

export interface RenewedDecisionStoreOptions<Batch, Receipt> {
  /** Opens `decisions.db` or creates a new one. `changed` must be called when the file changes. */
  readonly open: (
    changed: (problem: string | undefined) => void,
    former?: FormerFiles,
  ) => Promise<DecisionFiles<Batch, Receipt>>
  /** Called with the reason when a new file was created. */
  readonly renewed?: ((notice: string) => void) | undefined
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

const RETRY_MS = 5000
/** Time for which health reports a new file if the old one was gone. */
const NOTICE_MS = 600_000
/**
 * Number of immediate renewals within that time. Further ones wait longer and longer, since each
 * leaves a file behind on a failing disk.
 */
const IMMEDIATE_RENEWALS = 2

interface Notice {
  readonly text: string
  readonly damagedPath: string | undefined
  readonly atMs: number
}

/**
 * The decision log over a file that may be damaged or removed while it is open. The remains are
 * then renamed and a new file is created. Batches in between are lost: their writes reject.
 */
export class RenewedDecisionStore<Batch, Receipt> implements BatchWriter<Batch, Receipt>, DecisionReadStore {
  readonly #options: RenewedDecisionStoreOptions<Batch, Receipt>
  #open: DecisionFiles<Batch, Receipt> | undefined
  #attempt: Promise<void> | undefined
  #retry: NodeJS.Timeout | undefined
  #problem: string | undefined
  #notice: Notice | undefined
  #timesRenewed = 0
  /** Times of recent renewals. */
  #renewals: number[] = []
  #isClosed = false

  private constructor(options: RenewedDecisionStoreOptions<Batch, Receipt>) {
    this.#options = options
  }

  /** Opens the store. Raises the AppErrors of `openDecisionFiles`. */
  static async open<Batch, Receipt>(
    options: RenewedDecisionStoreOptions<Batch, Receipt>,
  ): Promise<RenewedDecisionStore<Batch, Receipt>> {
    const store = new RenewedDecisionStore(options)
    const opened = await options.open((problem) => store.#changed(problem))
    store.#open = opened
    if (opened.damagedPath !== undefined) store.#report('decisions.db was damaged', opened.damagedPath)
    return store
  }

  /** Number of new files created. */
  get timesRenewed(): number {
    return this.#timesRenewed
  }

  /** Why nothing can be written now. */
  get problem(): string | undefined {
    return this.#problem
  }

  /**
   * Notice that a new file was created, with the reason. It stays until a renamed file is moved
   * away, or for ten minutes if the old file was gone.
   */
  get notice(): string | undefined {
    if (this.#notice === undefined) return undefined
    const { text, damagedPath, atMs } = this.#notice
    const isShown =
      damagedPath === undefined ? this.#options.now() - atMs < NOTICE_MS : existsSync(damagedPath)
    if (!isShown) this.#notice = undefined
    return isShown ? text : undefined
  }

  async write(batch: Batch): Promise<Receipt> {
    await this.#attempt
    const files = this.#opened()
    try {
      return await files.writer.write(batch)
    } catch (raw) {
      const code = raw instanceof AppError ? raw.code : ''
      if ([STORE_DAMAGED, STORE_LOST, STORE_FAILING].includes(code)) {
        this.#renew(files, toError(raw).message, code === STORE_DAMAGED)
      }
      throw raw
    }
  }

  page(filter: DecisionFilter, bounds: PageBounds, after?: DecisionPosition): Promise<StoredDecisionPage> {
    return this.#read((store) => store.page(filter, bounds, after))
  }

  count(filter: DecisionCountFilter, max: number): Promise<number> {
    return this.#read((store) => store.count(filter, max))
  }

  denials(query: DenialQuery, max: number): Promise<readonly DenialCount[]> {
    return this.#read((store) => store.denials(query, max))
  }

  get(decisionId: string): Promise<StoredDecision | undefined> {
    return this.#read((store) => store.get(decisionId))
  }

  ofExecution(executionId: string, limit: number): Promise<readonly DecisionHead[]> {
    return this.#read((store) => store.ofExecution(executionId, limit))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#attempt
    const files = this.#open
    this.#open = undefined
    if (files !== undefined) await closeDecisionFiles(files)
  }

  async #read<T>(read: (store: DecisionReadStore) => Promise<T>): Promise<T> {
    await this.#attempt
    const files = this.#opened()
    try {
      return await read(files.store)
    } catch (raw) {
      if (raw instanceof AppError && raw.code === STORE_DAMAGED) this.#renew(files, raw.message, true)
      throw raw
    }
  }

  #opened(): DecisionFiles<Batch, Receipt> {
    if (this.#open !== undefined) return this.#open
    throw new AppError('unavailable', this.#problem ?? 'the decision log is closed')
  }

  #changed(problem: string | undefined): void {
    const files = this.#open
    if (problem !== undefined && files !== undefined)
      this.#renew(files, problem, files.watch.overwritten !== undefined)
  }

  /** Replaces the files, once for all callers that find a problem. */
  #renew(files: DecisionFiles<Batch, Receipt>, reason: string, isDamaged: boolean): void {
    if (this.#open !== files || this.#isClosed) return
    this.#open = undefined
    this.#problem = reason
    const former = { files: files.files, isDamaged }
    const now = this.#options.now()
    this.#renewals = this.#renewals.filter((atMs) => now - atMs < NOTICE_MS)
    const tooMany = this.#renewals.length - IMMEDIATE_RENEWALS
    this.#renewals.push(now)
    this.#attempt = closeDecisionFiles(files).then(() => {
      if (tooMany < 0) return this.#begin(reason, former)
      this.#retryLater(Math.min(RETRY_MS * 2 ** tooMany, NOTICE_MS), reason, former)
      return undefined
    })
  }

  #retryLater(pauseMs: number, reason: string, former: FormerFiles): void {
    if (this.#isClosed) return
    this.#retry = setTimeout(() => {
      this.#attempt = this.#begin(reason, former)
    }, pauseMs).unref()
  }

  async #begin(reason: string, former: FormerFiles): Promise<void> {
    try {
      this.#open = await this.#options.open((problem) => this.#changed(problem), former)
      this.#problem = undefined
      this.#report(reason, this.#open.damagedPath)
    } catch (raw) {
      this.#problem = `${reason}; a new file cannot be created: ${toError(raw).message}`
      this.#retryLater(RETRY_MS, reason, former)
    }
  }

  #report(reason: string, damagedPath: string | undefined): void {
    this.#timesRenewed += 1
    const where =
      damagedPath === undefined ? '' : `; it was renamed to ${basename(damagedPath)}, move it elsewhere`
    const text = `${reason}: decisions now go to a new decisions.db${where}`
    this.#notice = { text, damagedPath, atMs: this.#options.now() }
    this.#options.renewed?.(text)
  }
}
