const LONGEST_MS = 3_600_000

/**
 * How long statuses cannot be read. A reader that knows no time of its own asks again for ever, every three seconds, while it is told that a run goes
 * on (clients, section 4): after an hour it is told that the run is cancelled.
 */
export class ReadingOutage {
  #sinceMs: number | undefined

  /** A status was read. */
  over(): void {
    this.#sinceMs = undefined
  }

  /** A status could not be read; whether that has lasted too long to have readers ask again. */
  isTooLong(nowMs: number): boolean {
    this.#sinceMs ??= nowMs
    return nowMs - this.#sinceMs >= LONGEST_MS
  }
}
