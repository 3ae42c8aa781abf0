import type { Config } from '../../config/config.js'
import type { HealthPlugin } from '../../http/routes/about/health.js'
import type { Logger } from '../../lib/logger.js'
import { threadScript } from '../../lib/package-root.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import type { ServiceStore } from '../../store/ports/service-store.js'
import { openServiceStore } from '../../store/sqlite/threads/open-service-store.js'
import { storeLocation } from './store-location.js'

const SCRIPT = threadScript('store')

/** Opens what is durable, in the engine that the configuration names. Raises AppError `unavailable` for a store that cannot serve. */
export function openStore(
  config: Config,
  logger: Logger,
  threadDied: (death: ThreadDeath) => void,
): Promise<ServiceStore> {
  const { dataDir } = storeLocation(config)
  return openFile(dataDir, logger, threadDied)
}

/** `tidegate.db`, with threads that write and read it. */
function openFile(
  dataDir: string,
  logger: Logger,
  threadDied: (death: ThreadDeath) => void,
): Promise<ServiceStore> {
  return openServiceStore({
    dataDir,
    operations: SCRIPT,
    threadDied,
    fileChanged: (problem) => {
      if (problem === undefined) logger.info('tidegate.db is at its path, and is written again')
      else logger.error({ error: problem }, 'nothing durable is written')
    },
  })
}

/** How the store is shown among the parts of the service. */
export function storeHealth({ problem }: ServiceStore): HealthPlugin {
  return { name: 'store', isUp: () => problem() === undefined, problem }
}
