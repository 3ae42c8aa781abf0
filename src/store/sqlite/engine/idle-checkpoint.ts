import type { Database } from 'better-sqlite3'

/** So many calls write about a fifth of what the log holds before a commit copies it: some 5 ms of work. */
const CALLS = 50
/** Nothing was asked for so long. Who asks without a pause is not held up by more than a commit that copies now and then. */
const IDLE_MS = 2
/** Then fewer are copied, too: a file that was to shrink does so when the log is. */
const LONG_IDLE_MS = 10_000

/**
 * Copies the write-ahead log into the database in pauses, so that a commit seldom has to: whoever waits for such a one waits for the copying of
 * thousands of pages, too.
 */
export class IdleCheckpoint {
  readonly #database: Database
  readonly #requireFile: () => void
  #calls = 0
  #timer: NodeJS.Timeout | undefined

  /** `requireFile` raises where the files of the database are not at their paths. */
  constructor(database: Database, requireFile: () => void) {
    this.#database = database
    this.#requireFile = requireFile
  }

  /** So many calls were committed. */
  wrote(calls: number): void {
    this.#calls += calls
    clearTimeout(this.#timer)
    const idleMs = this.#calls < CALLS ? LONG_IDLE_MS : IDLE_MS
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
      // The next commit copies it, or tells why nothing can be written.
    }
  }
}
