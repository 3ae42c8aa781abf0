import type { BrowserSessions } from './browser-sessions.js'
import type { SharedDecisions } from './decision-shipping.js'
import type { InstanceReports } from './instance-reports.js'
import type { Leases } from './leases.js'
import type { StoreMaintenance } from './maintenance.js'
import type { Reader, Readers } from './readers.js'
import type { Writer } from './transaction.js'

/** The durable records of the service. */
export interface ServiceStore {
  readonly writer: Writer
  /** For reads that may take long. */
  readonly reader: Reader
  /** For single rows, on the calling thread. */
  readonly lookups: Readers
  readonly maintenance: StoreMaintenance
  /** The clock of all processes that share the store, in epoch milliseconds. */
  readonly now: () => number
  /** The clock of retention, which ignores a jump forward at first. */
  readonly removalTime: () => number
  readonly leases: Leases
  /** Absent in a store with a single process. */
  readonly sharing?: StoreSharing | undefined
  /** Why nothing can be written or read now. */
  readonly problem: () => string | undefined
  /** A problem that does not stop the store. */
  readonly warning?: (() => string | undefined) | undefined
  /**
   * To be called before everything is closed: an unresponsive server then delays the shutdown by
   * seconds at most.
   */
  readonly closing?: (() => void) | undefined
  /** Finishes the calls under way. */
  readonly close: () => Promise<void>
}

/** State that processes share in addition to the records. */
export interface StoreSharing {
  /** Returns the secret of a name, which is the same in all processes. `make` creates it. */
  readonly secret: (name: string, make: () => string) => Promise<string>
  readonly decisions: SharedDecisions
  /** Browsers that have signed in to any of the processes. */
  readonly sessions: BrowserSessions
  /** What the instances of the fleet reported last. */
  readonly reports: InstanceReports
  /**
   * Registers a callback for when another process may have released its leases. Spares waiting for
   * the next poll.
   */
  readonly whenReleased: (released: () => void) => void
}
