import { CHAIN_START } from '../../trail/audit-chain.js'
import type { LinkedRow } from '../../trail/audit-chain.js'

/** The end of the trail as it is stored. */
export interface StoredEnd {
  readonly seq: number
  readonly recordedMs: number
  readonly hash: Uint8Array
}

/** A record that is linked and not written yet. */
export interface LinkedRecord {
  readonly row: LinkedRow
  readonly hash: Uint8Array
  /** The body, deflated. */
  readonly body: Uint8Array
  /** The words that free text finds it by, as a `tsvector`. */
  readonly words: string
}

export const TRAIL_START: StoredEnd = { seq: 0, recordedMs: 0, hash: CHAIN_START }

/** What a transaction knows of the trail: its end, under the lock that is held until the commit, and what is to be written behind it. */
export class TrailState {
  end: StoredEnd = TRAIL_START
  /** By the clock of the database, when the transaction got the lock. */
  nowMs = 0
  readonly pending: LinkedRecord[] = []
  readonly pendingEvents = new Map<string, number>()

  /** Begins a transaction. */
  reset(end: StoredEnd, nowMs: number): void {
    this.end = end
    this.nowMs = nowMs
    this.clearPending()
  }

  clearPending(): void {
    this.pending.length = 0
    this.pendingEvents.clear()
  }
}
