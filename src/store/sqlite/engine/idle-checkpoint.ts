import type { Database } from 'better-sqlite3'

/**
 * Calls that write about a fifth of the pages at which a commit copies the log: about 5 ms of work.
 */
const CALLS_PER_CHECKPOINT = 50
/**
 * Idle time before the log is copied. A client without pauses waits for a copying commit now and
 * then.
 */
const IDLE_MS = 2
/** Idle time before fewer pages are copied: copying also lets the file shrink. */
const LONG_IDLE_MS = 10_000

/**
 * Copies the write-ahead log into the database in pauses, so that few commits have to copy
 * thousands of pages.
 */
export class IdleCheckpoint {
  readonly #database: Database
  readonly #requireFile: () => void
  #calls = 0
  #timer: NodeJS.Timeout | undefined

  /** `requireFile` raises if the files of the database are not at their paths. */
  constructor(database: Database, requireFile: () => void) {
    this.#database = database
    this.#requireFile = requireFile
  }

  /** Notes a commit of some calls. */
  wrote(calls: number): void {
    this.#calls += calls
    clearTimeout(this.#timer)
    const idleMs = this.#calls < CALLS_PER_CHECKPOINT ? LONG_IDLE_MS : IDLE_MS
    this.#timer = setTimeout(() => this.#copy(), idleMs).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #copy(): void {
    this.#timer = undefined
    this.#calls = 0
    try {
      this.#requireFile()
      this.#database.pragma('wal_checkpoint(passive)')
    } catch {
      // The next commit copies the log, or reports the problem.
    }
  }
}
