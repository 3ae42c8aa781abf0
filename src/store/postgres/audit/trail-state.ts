import { TRAIL_START } from '../../trail/audit-chain.js'
import type { LinkedRow, StoredEnd } from '../../trail/audit-chain.js'

/** A linked record that is not written yet. */
export interface LinkedRecord {
  readonly row: LinkedRow
  readonly hash: Uint8Array
  /** The deflated body. */
  readonly body: Uint8Array
  /** Words for the text search, as a `tsvector`. */
  readonly words: string
}

/**
 * Raised when an event was assumed to be new and is stored already. The transaction must be
 * repeated with a lookup of each event.
 */
export class EventIsStored extends Error {
  override readonly name = 'EventIsStored'
}

/**
 * State of the trail within a transaction: its end, which the lock protects until the commit, and
 * the records to write.
 */
export class TrailState {
  end: StoredEnd = TRAIL_START
  /** The database's time at which the transaction got the lock. */
  nowMs = 0
  pending: LinkedRecord[] = []
  /** Approximate size of the bodies and words of `pending`. */
  pendingBytes = 0
  readonly pendingEvents = new Map<string, number>()
  /** Whether events are assumed to be new until they are checked together. */
  isTrusting = false

  /** Begins a transaction. */
  reset(end: StoredEnd, nowMs: number, isTrusting: boolean): void {
    this.end = end
    this.nowMs = nowMs
    this.isTrusting = isTrusting
    this.takePending()
  }

  /** Returns the records to write and clears them. */
  takePending(): readonly LinkedRecord[] {
    const records = this.pending
    this.pending = []
    this.pendingBytes = 0
    this.pendingEvents.clear()
    return records
  }
}
