import type { ThreadRole } from '../../calls/messages.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'

/** What a thread of the store is started with. */
export interface PostgresThreadOptions {
  readonly engine: 'postgres'
  readonly role: ThreadRole
  readonly settings: PostgresSettings
  /** Names this process among all that share the database. */
  readonly owner: string
}
