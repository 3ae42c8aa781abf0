import { TRAIL_START } from '../../trail/audit-chain.js'
import type { LinkedRow, StoredEnd } from '../../trail/audit-chain.js'

/** A record that is linked and not written yet. */
export interface LinkedRecord {
  readonly row: LinkedRow
  readonly hash: Uint8Array
  /** The body, deflated. */
  readonly body: Uint8Array
  /** The words that free text finds it by, as a `tsvector`. */
  readonly words: string
}

/** An event that was taken for a new one has been kept before: the transaction must be done again, looking for each. */
export class EventWasKept extends Error {
  override readonly name = 'EventWasKept'
}

/** What a transaction knows of the trail: its end, under the lock that is held until the commit, and what is to be written behind it. */
export class TrailState {
  end: StoredEnd = TRAIL_START
  /** By the clock of the database, when the transaction got the lock. */
  nowMs = 0
  pending: LinkedRecord[] = []
  /** What the bodies and words of those that are to be written take, roughly. */
  pendingBytes = 0
  readonly pendingEvents = new Map<string, number>()
  /** Whether events count as new until all that wait are looked for at once. */
  isTrusting = false

  /** Begins a transaction. */
  reset(end: StoredEnd, nowMs: number, isTrusting: boolean): void {
    this.end = end
    this.nowMs = nowMs
    this.isTrusting = isTrusting
    this.takePending()
  }

  /** What is to be written, which is then counted as written. */
  takePending(): readonly LinkedRecord[] {
    const records = this.pending
    this.pending = []
    this.pendingBytes = 0
    this.pendingEvents.clear()
    return records
  }
}
