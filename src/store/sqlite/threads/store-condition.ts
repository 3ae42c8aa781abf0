import { AppError } from '../../../errors/app-error.js'
import { STORE_DAMAGED, STORE_FAILING, STORE_FULL } from '../engine/sqlite-error.js'

/** How long a full or failing disk is told of when nobody tries again. */
const FAILURE_IS_NEWS_MS = 60_000

/** Whether the file of the store can be worked with, judged by what became of the calls. */
export class StoreCondition {
  readonly #now: () => number
  #damage: string | undefined
  #failure: { readonly message: string; readonly atMs: number } | undefined

  /** `now` gives milliseconds on a clock that nobody sets. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** What is wrong with the file; damage is told of until the service is started again. */
  get problem(): string | undefined {
    if (this.#damage !== undefined) return this.#damage
    if (this.#failure === undefined || this.#now() - this.#failure.atMs > FAILURE_IS_NEWS_MS) return undefined
    return this.#failure.message
  }

  /** Takes note of why a call failed. */
  failed(error: unknown): void {
    if (!(error instanceof AppError)) return
    if (error.code === STORE_DAMAGED) this.#damage ??= error.message
    if (error.code === STORE_FULL || error.code === STORE_FAILING) {
      this.#failure = { message: error.message, atMs: this.#now() }
    }
  }

  /** Something was written: the disk takes it, and has room. */
  wrote(): void {
    this.#failure = undefined
  }
}
