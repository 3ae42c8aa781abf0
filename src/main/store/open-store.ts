import { join } from 'node:path'

import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import type { Logger } from '../../lib/logger.js'
import { threadScript } from '../../lib/package-root.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { DecisionReadStore } from '../../store/ports/decision-store.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import type { PostgresSettings } from '../../store/postgres/engine/postgres-settings.js'
import { storeLocation } from './store-location.js'
import type { StoreLocation } from './store-location.js'
import type { FindOperation } from '../../store/ports/operation.js'
import type { OpenReader, Readers } from '../../store/ports/readers.js'

const SCRIPT = threadScript('store')

/** The dependencies of a store. */
interface StoreParts {
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly threadDied: (death: ThreadDeath) => void
}

/**
 * Opens the durable store with the configured engine. Throws `unavailable` for a store that cannot
 * serve.
 */
export async function openStore(config: Config, parts: StoreParts): Promise<ServiceStore> {
  const location = storeLocation(config, parts.readSecret)
  return location.engine === 'postgres'
    ? await openDatabase(location.settings, config.store.connections, parts)
    : await openFile(location.dataDir, parts)
}

/** Opens a PostgreSQL store with threads that write and read. */
async function openDatabase(
  settings: PostgresSettings,
  connections: number,
  { logger, threadDied }: StoreParts,
): Promise<ServiceStore> {
  const { openPostgresStore } = await import('../../store/postgres/threads/open-postgres-store.js')
  return await openPostgresStore({
    settings,
    connections,
    operations: SCRIPT,
    threadDied,
    changed: (problem) => {
      if (problem === undefined) logger.info('the database is available again')
      else logger.error({ error: problem }, 'durable records cannot be written')
    },
  })
}

/** Opens `tidegate.db` with threads that write and read. */
async function openFile(dataDir: string, { logger, threadDied }: StoreParts): Promise<ServiceStore> {
  const { openServiceStore } = await import('../../store/sqlite/threads/open-service-store.js')
  return await openServiceStore({
    dataDir,
    operations: SCRIPT,
    threadDied,
    fileChanged: (problem) => {
      if (problem === undefined) logger.info('tidegate.db is at its path again and is written')
      else logger.error({ error: problem }, 'durable records cannot be written')
    },
  })
}

/**
 * Opens the decision log read-only on the calling thread: the shared one, or the file in the data
 * directory. Throws `unavailable`.
 */
export async function openStoredDecisions(
  location: StoreLocation,
  dataDir: string,
): Promise<DecisionReadStore> {
  if (location.engine === 'postgres') {
    const { openSharedDecisions } = await import('../../store/postgres/decisions/shared-decisions.js')
    return openSharedDecisions(location.settings).store
  }
  const { openDecisionReader } = await import('../../store/sqlite/decisions/decision-reader.js')
  return openDecisionReader(join(dataDir, 'decisions.db'))
}

/** The store as a part of the service's health. */
export function storeHealth({ problem, warning }: ServiceStore): HealthPlugin {
  return { name: 'store', isUp: () => problem() === undefined, problem, ...(warning && { warning }) }
}

/**
 * Opens the durable store read-only on the calling thread, whether or not a service runs. Throws
 * `unavailable` for a store that is absent, damaged or not Tidegate's.
 */
export async function openReader(
  location: StoreLocation,
  operations: FindOperation<Readers>,
): Promise<OpenReader> {
  if (location.engine === 'postgres') {
    const { openPostgresReader } = await import('../../store/postgres/threads/open-postgres-store.js')
    return openPostgresReader(location.settings, operations)
  }
  const { openReader: openSqliteReader } = await import('../../store/sqlite/threads/connect.js')
  return openSqliteReader(location.dataDir, operations)
}
