import type { BrowserSessions } from './browser-sessions.js'
import type { SharedDecisions } from './decision-shipping.js'
import type { Leases } from './leases.js'
import type { StoreMaintenance } from './maintenance.js'
import type { Reader, Readers } from './readers.js'
import type { Writer } from './transaction.js'

/** The durable records of the service. */
export interface ServiceStore {
  readonly writer: Writer
  /** For what may take long. */
  readonly reader: Reader
  /** For single rows, at once. */
  readonly lookups: Readers
  readonly maintenance: StoreMaintenance
  /** Milliseconds since the epoch, by the clock that all processes of the store go by. */
  readonly now: () => number
  /** The same clock, unless it was set forward just now: the time by which old records are removed. */
  readonly removalTime: () => number
  readonly leases: Leases
  /** Absent where one process has the store to itself. */
  readonly sharing?: StoreSharing | undefined
  /** Why nothing can be kept or read now. */
  readonly problem: () => string | undefined
  /** What is odd without being wrong. */
  readonly warning?: (() => string | undefined) | undefined
  /** To be called when everything is about to be closed: a server that gives no answer holds that up for seconds at most. */
  readonly closing?: (() => void) | undefined
  /** Finishes what was begun. */
  readonly close: () => Promise<void>
}

/** What several processes that share a store have in common beside their records. */
export interface StoreSharing {
  /** The secret of a name, the same for all: `make` gives one where there is none. */
  readonly secret: (name: string, make: () => string) => Promise<string>
  readonly decisions: SharedDecisions
  /** The browsers that have signed in to any of them. */
  readonly sessions: BrowserSessions
  /** Calls back when another process may have let go of its work: who waits for that need not wait until it looks again. */
  readonly whenReleased: (heard: () => void) => void
}
