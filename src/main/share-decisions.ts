import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/config.js'
import type { DecisionQueryDeps } from '../decisions/query-decisions.js'
import type { KeptDecisions } from '../http/routes/trail/decisions.js'
import type { Logger } from '../lib/logger.js'
import { threadScript } from '../lib/package-root.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { DecisionShipping } from '../store/ports/decision-shipping.js'
import type { Leadership } from './timers/leadership.js'
import { repeat } from './timers/repeat.js'

const MS_PER_DAY = 86_400_000
const REMOVAL_INTERVAL_MS = 600_000
/** So many wait at least before somebody should look. */
const MANY_WAITING = 10_000

export interface ShareDecisionsParts {
  readonly store: Pick<ServiceStore, 'sharing' | 'removalTime'>
  readonly leadership: Leadership
  readonly logger: Logger
  readonly threadDied: (death: ThreadDeath) => void
}

/** The decision log as several services have it in common. */
export interface SharedDecisionLog {
  readonly read: KeptDecisions
  readonly shipping: DecisionShipping
  /** That decisions are late in the shared log, or that some never come. */
  readonly warning: () => string | undefined
  /** To be called when all decisions are in the local file, which must still be open. */
  readonly close: () => Promise<void>
}

/** Ships the local log to the one that all services share, and answers from that one; undefined where none is shared. */
export function shareDecisions(
  { dataDir, decisions, store: { replica = hostname() } }: Config,
  own: DecisionQueryDeps,
  { store, leadership, logger, threadDied }: ShareDecisionsParts,
): SharedDecisionLog | undefined {
  if (store.sharing === undefined) return undefined
  const shared = store.sharing.decisions
  const shipping = shared.startShipping({
    script: threadScript('decision-shipper'),
    path: join(dataDir, 'decisions.db'),
    replica,
    died: threadDied,
    changed: (problem) => {
      if (problem === undefined) logger.info('decisions are shipped again')
      else logger.warn({ error: problem }, 'decisions stay in the local file alone for now')
    },
  })
  const keepMs = decisions.maxAgeDays * MS_PER_DAY
  const removing = repeat(
    REMOVAL_INTERVAL_MS,
    leadership.led(async () => {
      const months = await shared.removeMonthsBefore(store.removalTime() - keepMs)
      if (months > 0) logger.info({ months }, 'removed old months from the decision log')
    }),
    (error) => logger.error({ error: error.message }, 'old decisions not removed'),
  )
  const flush = async (): Promise<void> => {
    await own.log.flush()
    await shipping.catchUp()
  }
  return {
    read: { store: shared.store, log: { flush }, own },
    shipping,
    warning: () => warningOf(shipping),
    close: async () => {
      await removing.stop()
      await shipping.close()
    },
  }
}

function warningOf(shipping: DecisionShipping): string | undefined {
  const { problem, waiting } = shipping.metrics()
  const late = `decisions that are not in the shared log yet: ${waiting}`
  if (problem !== undefined) return `${late} (${problem})`
  return waiting > MANY_WAITING ? late : undefined
}
