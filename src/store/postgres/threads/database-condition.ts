import { AppError } from '../../../errors/app-error.js'
import { requireWriter } from '../engine/migrate.js'
import { STORE_AWAY } from '../engine/postgres-error.js'
import { serviceSchema } from '../migrations/service.js'
import type { Heartbeat } from '../sharing/replica-leases.js'

/**
 * Clock difference above which a warning is shown. It does no harm, since all processes use the
 * database's clock.
 */
const MAX_QUIET_OFFSET_MS = 5000

/** Condition of the database, judged by the last call or heartbeat. */
export class DatabaseCondition {
  readonly #changed: (problem: string | undefined) => void
  #away: string | undefined
  #newer: string | undefined
  #clockOffsetMs = 0

  constructor(changed: (problem: string | undefined) => void) {
    this.#changed = changed
  }

  /** Why nothing can be written now. */
  get problem(): string | undefined {
    return this.#away ?? this.#newer
  }

  /** Lead of the database's clock over this machine's, in milliseconds. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs
  }

  /** A problem that does not stop the store. */
  get warning(): string | undefined {
    const seconds = Math.round(this.#clockOffsetMs / 1000)
    if (Math.abs(this.#clockOffsetMs) < MAX_QUIET_OFFSET_MS) return undefined
    return `this machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'behind' : 'ahead of'} the database's clock, which is used`
  }

  /** Returns whether this release may write to the database. */
  noteHeartbeat({ clockOffsetMs, oldestWriter }: Heartbeat): boolean {
    this.#clockOffsetMs = clockOffsetMs
    try {
      requireWriter(serviceSchema, { oldestWriter })
      this.#note({ away: undefined, newer: undefined })
    } catch (error) {
      this.#note({ away: undefined, newer: (error as Error).message })
    }
    return this.#newer === undefined
  }

  succeeded(): void {
    if (this.#away !== undefined) this.#note({ away: undefined, newer: this.#newer })
  }

  failed(error: unknown): void {
    if (error instanceof AppError && error.code === STORE_AWAY) {
      this.#note({ away: error.message, newer: this.#newer })
    }
  }

  #note({ away, newer }: { readonly away: string | undefined; readonly newer: string | undefined }): void {
    const wasWell = this.problem === undefined
    this.#away = away
    this.#newer = newer
    // Report once, even if the text of the problem changes.
    if (wasWell !== (this.problem === undefined)) this.#changed(this.problem)
  }
}
