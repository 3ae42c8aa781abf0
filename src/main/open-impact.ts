import { readSecrets } from '../config/read-secrets.js'
import { ImpactRuns } from '../impact/impact-runs.js'
import type { Logger } from '../lib/logger.js'
import type { OnStop } from './close-parts.js'
import { inTemporaryDirectoryBelow } from '../lib/temporary-directory.js'
import { timeOrderedId } from '../lib/time-ordered-id.js'
import { packSnapshot, type Policies } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import { temporaryFolderOf } from './files/temporary-folder.js'
import type { Reloads } from './reload/reloads.js'
import { storeLocation } from './store/store-location.js'
import { compareInThread } from './threads/impact-thread.js'

interface ImpactParts {
  readonly policies: Policies
  readonly exceptions: () => readonly PolicyException[]
  readonly logger: Logger
}

/** Sets up comparisons of policies. Each runs in a thread of its own, which starts on demand. */
export function openImpact(
  reloads: Pick<Reloads, 'config'>,
  { policies, exceptions, logger }: ImpactParts,
  onStop: OnStop,
): ImpactRuns {
  const { config } = reloads
  const { dataDir, decisions } = config
  const runs = new ImpactRuns({
    now: Date.now,
    newId: timeOrderedId,
    failed: (error) => logger.error({ err: error }, 'a comparison of policies failed'),
    compare: (request, progress, givenUp) =>
      inTemporaryDirectoryBelow(temporaryFolderOf(dataDir), (directory) => {
        const options = {
          ...{
            config: { dataDir, decisions, policies: reloads.config.policies },
            request,
            directory,
            nowMs: Date.now(),
          },
          exceptions: exceptions(),
          serving: packSnapshot(policies.current),
          store: storeLocation(config, readSecrets({ store: config.store }, process.env)),
          hasDecisions: decisions.enabled,
        }
        return compareInThread(options, progress, givenUp)
      }),
  })
  onStop('impact', () => runs.close())
  return runs
}
