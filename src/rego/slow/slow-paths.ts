/** Number of recent evaluations that count. */
const REMEMBERED = 8
/** Number of these that must have exceeded their slice to skip the next try. */
const SLOW_ENOUGH = 7
/** One in this many evaluations is tried anyway, to find out if the path has become fast. */
const TRY_EVERY = 16
/** Limit on recorded paths. Callers choose paths and sizes, so memory must be bounded. */
const MAX_PATHS = 1024

/** The recent evaluations of one path with inputs of one size. */
class PathRecord {
  /** Latest first. */
  #overruns: boolean[] = []
  #passed = 0

  /** Returns true to try the next evaluation within a slice, and counts it. */
  isWorthTrying(): boolean {
    if (this.#overruns.filter(Boolean).length < SLOW_ENOUGH) return true
    this.#passed = (this.#passed + 1) % TRY_EVERY
    return this.#passed === 0
  }

  /** Records the result of a try. */
  tried(isOver: boolean): void {
    this.#overruns = [isOver, ...this.#overruns].slice(0, REMEMBERED)
  }

  /** True if no recent evaluation exceeded its slice. */
  get isClean(): boolean {
    return !this.#overruns.includes(true)
  }
}

/**
 * Records paths whose recent evaluations exceeded their slice. Empty if none did, so that the check
 * costs nothing.
 */
export class SlowPaths {
  readonly #records = new Map<string, PathRecord>()

  get isEmpty(): boolean {
    return this.#records.size === 0
  }

  find(key: string): PathRecord | undefined {
    return this.#records.get(key)
  }

  /** Records an evaluation that exceeded its slice. */
  overran(key: string): void {
    const record = this.#records.get(key) ?? new PathRecord()
    record.tried(true)
    // Moves the path to the end, so that it is dropped last.
    this.#records.delete(key)
    this.#records.set(key, record)
    if (this.#records.size > MAX_PATHS) this.#forgetOldest()
  }

  /** Records an evaluation that ended within its slice. */
  ended(key: string): void {
    const record = this.#records.get(key)
    record?.tried(false)
    if (record?.isClean === true) this.#records.delete(key)
  }

  /** New policies may be faster. */
  clear(): void {
    this.#records.clear()
  }

  #forgetOldest(): void {
    const [oldest] = this.#records.keys()
    if (oldest !== undefined) this.#records.delete(oldest)
  }
}

/** Shortest slice in milliseconds. Most decisions take less than one. */
const MIN_MS = 1
/** Share of the deciding thread's time that aborted evaluations may use. */
const SHARE = 0.1
/** Largest burst of lost time in milliseconds: the share of one second. */
const MAX_MS = 100

/**
 * Calculates the length of slices. Each aborted slice is lost time. Slices become shorter when more
 * than a tenth of the thread's time is lost, and recover over time.
 */
export class SliceAllowance {
  readonly #sliceMs: number
  #savedMs = MAX_MS
  #savedAtMs = 0

  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs
  }

  /** True if slices have their full length. */
  isFull(nowMs: number): boolean {
    return this.#saved(nowMs) >= this.#sliceMs
  }

  /** Returns the length of a new slice in milliseconds. */
  lengthMs(nowMs: number): number {
    // The usual case: no time was lost recently.
    if (this.#savedMs === MAX_MS) return this.#sliceMs
    return Math.min(this.#sliceMs, Math.max(MIN_MS, this.#saved(nowMs)))
  }

  /** Adds lost time in milliseconds. */
  lose(lostMs: number, nowMs: number): void {
    this.#savedMs = this.#saved(nowMs) - lostMs
    this.#savedAtMs = nowMs
  }

  #saved(nowMs: number): number {
    // Restarts from there if the clock was set back.
    if (nowMs < this.#savedAtMs) this.#savedAtMs = nowMs
    const passedMs = nowMs - this.#savedAtMs
    return Math.min(MAX_MS, this.#savedMs + passedMs * SHARE)
  }
}
