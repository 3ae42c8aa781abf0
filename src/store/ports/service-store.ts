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
  /** Why nothing can be kept or read now. */
  readonly problem: () => string | undefined
  /** Finishes what was begun. */
  readonly close: () => Promise<void>
}
