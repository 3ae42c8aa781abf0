/** Editors save in several steps: files have come to rest when they have been quiet for this long. */
const QUIET_MS = 60
/** What takes as long as there are files to look at begins after this share of it. */
const BEGUN_AFTER = 0.25
/** So long at the most: files that are saved again and again are served all the same. */
const LONGEST_MS = 400

/** What is done once changes have come to rest. */
export interface AtRest {
  /** Called shortly before, perhaps in vain: more may change. */
  readonly soon: () => void
  readonly now: () => void
}

/** Waits until there has been no change for a while, though not for long. */
export class QuietTime {
  readonly #atRest: AtRest
  #timers: readonly NodeJS.Timeout[] = []
  /** When the first change came that nothing has been done about yet. */
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

  /** Nothing more is done about what has changed. */
  end(): void {
    this.#timers.forEach(clearTimeout)
  }
}
