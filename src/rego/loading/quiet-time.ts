/** Quiet time after the last change, in milliseconds. Editors save in several steps. */
const QUIET_MS = 60
/** Share of the listing time to wait, for listings that take long. */
const BEGUN_AFTER = 0.25
/** Longest wait in milliseconds, for files that change continually. */
const LONGEST_MS = 400

/** Called after changes have stopped. */
export interface AtRest {
  /** Called shortly before, perhaps in vain: more may change. */
  readonly soon: () => void
  readonly now: () => void
}

/** Waits until no change has arrived for the quiet time, up to the longest wait. */
export class QuietTime {
  readonly #atRest: AtRest
  #timers: readonly NodeJS.Timeout[] = []
  /** Time of the first change that has not been handled. */
  #changedAt: number | undefined

  constructor(atRest: AtRest) {
    this.#atRest = atRest
  }

  /** To be called at each change. */
  begin(): void {
    this.end()
    this.#changedAt ??= performance.now()
    const quietMs = Math.max(0, Math.min(QUIET_MS, this.#changedAt + LONGEST_MS - performance.now()))
    const now = (): void => {
      this.#changedAt = undefined
      this.#atRest.now()
    }
    this.#timers = [setTimeout(this.#atRest.soon, quietMs * BEGUN_AFTER), setTimeout(now, quietMs)]
  }

  /** Discards pending changes. */
  end(): void {
    this.#timers.forEach(clearTimeout)
  }
}
