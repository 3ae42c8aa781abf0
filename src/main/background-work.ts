import { join } from 'node:path'
import type { Config } from '../config/config.js'
import type { OnStop } from './close-parts.js'
import { AppError } from '../errors/app-error.js'
import { GATE_WORK } from '../gates/work/gate-work.js'
import type { BackgroundWorkRoutesDeps } from '../http/routes/messages/background-work.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { JournaledAttempts } from '../lib/work-attempts.js'
import type { WorkAttempts } from '../lib/work-attempts.js'
import { resendMessage } from '../outbox/outbox-operations.js'
import { OUTBOX_MESSAGE } from '../outbox/sender.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { OpenGates } from './open-gates.js'
import type { OpenOutbox } from './open-outbox.js'
import { RECONCILIATION } from './open-registry.js'
import type { OpenRegistry } from './open-registry.js'

const FILE = 'unfinished-work.jsonl'

/** Background work as shown over HTTP and in the service's health. */
export interface BackgroundWork {
  readonly routes: BackgroundWorkRoutesDeps
  readonly health: HealthPlugin
}

interface WorkParts {
  readonly attempts: WorkAttempts
  readonly store: ServiceStore
  readonly gates: OpenGates
  readonly outbox: OpenOutbox
  readonly registry: OpenRegistry
}

/** Opens the journal of attempts at background work, in the data directory. */
export function openAttempts({ dataDir }: Config, onStop: OnStop): JournaledAttempts {
  const attempts = new JournaledAttempts(join(dataDir, FILE))
  onStop('unfinished work', () => attempts.close())
  return attempts
}

/** Lists suspended work and resumes it. */
export function makeBackgroundWork({ attempts, store, gates, outbox, registry }: WorkParts): BackgroundWork {
  const resumeBy: Readonly<Record<string, BackgroundWorkRoutesDeps['resume']>> = {
    [GATE_WORK]: ({ key }, actor) => gates.resume(Number(key), actor),
    [OUTBOX_MESSAGE]: async ({ key }, actor) => {
      await store.writer.run(resendMessage, { id: Number(key), ...actor })
      outbox.wake()
    },
    [RECONCILIATION]: () => {
      registry.reconcile()
      return Promise.resolve()
    },
  }
  return {
    routes: {
      suspended: () => attempts.suspended(),
      now: store.now,
      resume: async (work, actor) => {
        if (!attempts.forget(work)) {
          throw new AppError(
            'not_found',
            `no ${work.kind} ${work.key} is suspended: GET /backgroundWork lists suspended work`,
          )
        }
        // Work of other kinds is resumed at the next start.
        await resumeBy[work.kind]?.(work, actor)
      },
    },
    health: {
      name: 'background_work',
      isUp: () => true,
      warning: () => {
        const { length } = attempts.suspended()
        if (length === 0) return undefined
        return `${length} suspended after ending the service twice (GET /backgroundWork)`
      },
    },
  }
}
