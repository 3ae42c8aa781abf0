import { AppError } from '../../../errors.js'
import { STORE_DAMAGED, STORE_FULL } from '../sqlite-error.js'

/** How long a full disk is told of when nobody tries to write again. */
const FULL_IS_NEWS_MS = 60_000

/** Whether the file of the store can be worked with, judged by what became of the calls. */
export class StoreCondition {
  readonly #now: () => number
  #damage: string | undefined
  #full: { readonly message: string; readonly atMs: number } | undefined

  constructor(now: () => number) {
    this.#now = now
  }

  /** What is wrong with the file; damage is told of until the service is started anew. */
  get problem(): string | undefined {
    if (this.#damage !== undefined) return this.#damage
    if (this.#full === undefined || this.#now() - this.#full.atMs > FULL_IS_NEWS_MS) return undefined
    return this.#full.message
  }

  /** Takes note of why a call failed. */
  failed(error: unknown): void {
    if (!(error instanceof AppError)) return
    if (error.code === STORE_DAMAGED) this.#damage ??= error.message
    if (error.code === STORE_FULL) this.#full = { message: error.message, atMs: this.#now() }
  }

  /** Something was written: there is room. */
  wrote(): void {
    this.#full = undefined
  }
}
