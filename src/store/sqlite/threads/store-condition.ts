import { AppError } from '../../../errors/app-error.js'
import { STORE_DAMAGED, STORE_FAILING, STORE_FULL } from '../engine/sqlite-error.js'

/** Time for which a full or failing disk is reported if no other write is tried. */
const FAILURE_SHOWN_MS = 60_000

/** Condition of the store's file, judged by the outcomes of calls. */
export class StoreCondition {
  readonly #now: () => number
  #damage: string | undefined
  #failure: { readonly message: string; readonly atMs: number } | undefined

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Problem with the file. Damage is reported until the next start of the service. */
  get problem(): string | undefined {
    if (this.#damage !== undefined) return this.#damage
    if (this.#failure === undefined || this.#now() - this.#failure.atMs > FAILURE_SHOWN_MS) return undefined
    return this.#failure.message
  }

  /** Notes why a call failed. */
  failed(error: unknown): void {
    if (!(error instanceof AppError)) return
    if (error.code === STORE_DAMAGED) this.#damage ??= error.message
    if (error.code === STORE_FULL || error.code === STORE_FAILING) {
      this.#failure = { message: error.message, atMs: this.#now() }
    }
  }

  /** Notes a successful write, which proves that the disk works and has space. */
  wrote(): void {
    this.#failure = undefined
  }
}
