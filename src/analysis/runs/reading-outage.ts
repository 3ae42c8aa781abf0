const LONGEST_MS = 3_600_000

/**
 * The duration for which statuses could not be read. A client without its own timeout polls every
 * three seconds as long as the run is reported as running (clients, section 4). After an hour it is
 * reported as cancelled.
 */
export class ReadingOutage {
  #sinceMs: number | undefined

  /** A status was read. */
  over(): void {
    this.#sinceMs = undefined
  }

  /**
   * Reports a failed read. Returns whether reads have failed for so long that clients should stop
   * polling.
   */
  isTooLong(nowMs: number): boolean {
    this.#sinceMs ??= nowMs
    return nowMs - this.#sinceMs >= LONGEST_MS
  }
}
