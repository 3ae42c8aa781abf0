import { join } from 'node:path'

import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import { BundleFolder } from '../distribution/bundle-folder.js'
import { makeFetch } from '../distribution/fetching/make-fetch.js'
import type { OpaConfig } from '../distribution/opa-config/read-opa-config.js'
import { PolicySource } from '../distribution/policy-source.js'
import { recordActivation } from '../distribution/record-activation.js'
import type { SourceDefinition } from '../distribution/source-definition.js'
import { SourceSet } from '../distribution/source-set.js'
import type { Activation } from '../distribution/source-set.js'
import { AppError, toError } from '../errors/app-error.js'
import { wait } from '../lib/outbound/back-off.js'
import type { Logger } from '../lib/logger.js'
import type { PolicyLocations } from '../rego/index.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import { definitionOfSource } from './configured-sources.js'

/** In the data directory. */
const FOLDER = 'policy-sources'

interface SourcesParts {
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly store: Pick<ServiceStore, 'writer' | 'now'>
}

/** The sources of policies, which poll once `start` is called. */
export interface OpenSources {
  readonly set: SourceSet
  readonly close: () => Promise<void>
}

/**
 * Returns the sources of the configuration and of OPA's. Throws `invalid` for files that cannot be
 * read and for a repeated name.
 */
export function sourceDefinitions(
  { policies }: Config,
  opa: OpaConfig | undefined,
  readSecret: ReadSecret,
): SourceDefinition[] {
  const own = policies.sources.map((source) => definitionOfSource(source, readSecret))
  const all = [...own, ...(opa?.sources ?? [])]
  const names = all.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return all
  throw new AppError(
    'invalid',
    `two sources are named ${twice}: rename one in policies.sources or in ${policies.opaConfig ?? ''}`,
  )
}

/** Prepares sources. */
export function openSources(
  { dataDir }: Config,
  definitions: readonly SourceDefinition[],
  own: PolicyLocations,
  parts: SourcesParts,
): OpenSources {
  const { logger } = parts
  const folderOf = (name: string): string => join(dataDir, FOLDER, encodeURIComponent(name))
  const opened = definitions.map((definition) => ({
    definition,
    ...makeFetch(definition.name, definition.location, `${folderOf(definition.name)}.git`),
  }))
  const set = new SourceSet(
    (activate) =>
      opened.map(({ definition, fetch }) => {
        return new PolicySource(definition, {
          fetch,
          folder: new BundleFolder(folderOf(definition.name), definition.place),
          activate,
          failed: (source, error) =>
            logger.warn({ source, error: error.message }, 'a source of policies gave no bundle'),
          now: Date.now,
          random: Math.random,
          wait,
        })
      }),
    {
      own,
      activated: (activation) => recordIt(activation, parts),
      refused: (source, error) =>
        logger.error(
          { source, code: error.code, errors: error.details },
          `a bundle was not loaded; the last good one stays in service: ${error.message}`,
        ),
      notKept: (source, error) =>
        logger.error(
          { source, error: error.message },
          'a bundle serves but cannot be stored for the next start',
        ),
      keptRefused: (error) =>
        logger.error(
          { error: error.message },
          'the stored bundles of the sources do not load; they are downloaded again',
        ),
    },
  )
  return {
    set,
    close: async () => {
      await set.stop()
      await Promise.all(opened.map(({ close }) => close()))
    },
  }
}

async function recordIt(activation: Activation, { logger, store }: SourcesParts): Promise<void> {
  const { source, revision, previous, servedBeforeMs } = activation
  logger.info({ source, revision, previous }, 'a new bundle serves')
  if (servedBeforeMs !== undefined)
    logger.warn(
      { source, revision, servedBefore: new Date(servedBeforeMs).toISOString() },
      'a source went back to a bundle that served before',
    )
  const record = { activation, nowMs: store.now(), user: undefined, origin: `source ${source}` }
  await store.writer.run(recordActivation, record).catch((raw: unknown) => {
    logger.error({ source, error: toError(raw).message }, 'an activation is missing in the audit trail')
  })
}
