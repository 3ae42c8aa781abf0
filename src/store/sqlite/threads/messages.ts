import type { ThreadRole } from '../../calls/messages.js'
import type { KeptFile } from '../engine/kept-files.js'

/** What a thread of the store is started with. */
export interface StoreThreadOptions {
  readonly path: string
  readonly role: ThreadRole
  /** What must be at its path for anything to be written. */
  readonly files: readonly KeptFile[]
}
