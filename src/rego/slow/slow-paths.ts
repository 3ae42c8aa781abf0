/** Of so many evaluations that were tried last, ... */
const REMEMBERED = 8
/** ... all but one did not end within their slice: then the next is not tried at all. */
const SLOW_ENOUGH = 7
/** Once in so many evaluations it is tried nevertheless, so that what has become quick is found out. */
const TRY_EVERY = 16
/** Callers choose paths and sizes, so the memory of them is bounded. */
const MAX_PATHS = 1024

/** How the evaluations of one path over inputs of one size went. */
export class PathRecord {
  /** Latest first. */
  #overruns: boolean[] = []
  #passed = 0

  /** Whether to try the next evaluation within a slice; counts. */
  isWorthTrying(): boolean {
    if (this.#overruns.filter(Boolean).length < SLOW_ENOUGH) return true
    this.#passed = (this.#passed + 1) % TRY_EVERY
    return this.#passed === 0
  }

  /** Tells how one that was tried ended. */
  tried(isOver: boolean): void {
    this.#overruns = [isOver, ...this.#overruns].slice(0, REMEMBERED)
  }

  /** Whether nothing is held against it any more. */
  get isClean(): boolean {
    return !this.#overruns.includes(true)
  }
}

/** The paths of which evaluations did not end within a slice lately. Empty as long as none did, so that asking costs nothing. */
export class SlowPaths {
  readonly #records = new Map<string, PathRecord>()

  get isEmpty(): boolean {
    return this.#records.size === 0
  }

  find(key: string): PathRecord | undefined {
    return this.#records.get(key)
  }

  /** Tells that an evaluation that was tried did not end within its slice. */
  overran(key: string): void {
    const record = this.#records.get(key) ?? new PathRecord()
    record.tried(true)
    // The one that overran last is forgotten last.
    this.#records.delete(key)
    this.#records.set(key, record)
    if (this.#records.size > MAX_PATHS) this.#forgetOldest()
  }

  /** Tells that one that was tried ended in time. */
  ended(key: string): void {
    const record = this.#records.get(key)
    record?.tried(false)
    if (record?.isClean === true) this.#records.delete(key)
  }

  /** New policies may be quicker. */
  clear(): void {
    this.#records.clear()
  }

  #forgetOldest(): void {
    const [oldest] = this.#records.keys()
    if (oldest !== undefined) this.#records.delete(oldest)
  }
}
