import { join } from 'node:path'

import { BundleFolder } from '../distribution/bundle-folder.js'
import type { OpenFetch } from '../distribution/fetching/make-fetch.js'
import { PolicySource } from '../distribution/policy-source.js'
import { recordActivation } from '../distribution/record-activation.js'
import type { SourceDefinition } from '../distribution/source-definition.js'
import { SourceSet } from '../distribution/source-set.js'
import type { Activation } from '../distribution/source-set.js'
import { AppError, toError } from '../errors/app-error.js'
import { wait } from '../lib/outbound/back-off.js'
import { comparableText } from '../lib/outbound/credentials.js'
import type { Logger } from '../lib/logger.js'
import type { KeptRevisions, PolicyLocations, RevisionImpact } from '../rego/index.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { Configured, Reloads } from './reload/reloads.js'

/** In the data directory. */
const FOLDER = 'policy-sources'

/** The known effect of a revision. Comparisons are opened after the policies. */
export interface KnownImpact {
  find: (revision: string) => RevisionImpact | undefined
}

interface RecordingParts {
  readonly logger: Logger
  readonly store: Pick<ServiceStore, 'writer' | 'now'>
  readonly revisions: Pick<KeptRevisions, 'note'>
  readonly knownImpact: KnownImpact
}

interface SourcesParts extends RecordingParts {
  readonly reloads: Pick<Reloads, 'config'>
  readonly dataDir: string
}

/** A source with its definition, and the function that closes its connections. */
interface OpenedSource extends Pick<OpenFetch, 'close'> {
  readonly definition: SourceDefinition
  readonly folder: BundleFolder
  readonly source: PolicySource
}

/** The sources of policies. */
export interface OpenSources {
  readonly set: SourceSet
  /**
   * Returns the sources of a configuration. Unchanged ones are the sources in use. Throws `invalid`
   * for files that cannot be read and for a repeated name.
   */
  readonly sourcesOf: (configured: Configured) => Promise<readonly PolicySource[]>
  readonly close: () => Promise<void>
}

/** Returns the directories and bundles of a configuration. */
export function ownLocations({ policies }: Configured['config']): PolicyLocations {
  return { directories: policies.directories, bundles: policies.bundles }
}

/** Prepares the set of sources, which is empty at first. */
export function openSources(parts: SourcesParts): OpenSources {
  const { logger, dataDir, reloads } = parts
  const set = new SourceSet({
    isStaging: () => reloads.config.policies.staged.sharePercent > 0,
    activated: (activation) => recordIt(activation, `source ${activation.source}`, parts),
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
  })
  let opened: readonly OpenedSource[] = []
  const inUse = (): readonly OpenedSource[] => opened.filter(({ source }) => set.sources.includes(source))
  const openSource = async (definition: SourceDefinition): Promise<OpenedSource> => {
    const former = inUse().find((each) => each.definition.name === definition.name)
    if (former !== undefined && comparableText(former.definition) === comparableText(definition))
      return former
    // Loaded on demand, because most services have no sources.
    const { makeFetch } = await import('../distribution/fetching/make-fetch.js')
    const path = join(dataDir, FOLDER, encodeURIComponent(definition.name))
    const { fetch, close } = makeFetch(definition.name, definition.location, `${path}.git`)
    const folder = former?.folder.forServer(definition.place) ?? new BundleFolder(path, definition.place)
    const source = new PolicySource(definition, {
      ...{ fetch, folder, wait, now: Date.now, random: Math.random },
      activate: set.activate,
      isStaged: (digest) => set.isStaged(digest),
      failed: (name, error) =>
        logger.warn({ source: name, error: error.message }, 'a source of policies gave no bundle'),
    })
    if (former === undefined) await source.restore()
    return { definition, folder, source, close }
  }
  return {
    set,
    sourcesOf: async (configured) => {
      const definitions = await definitionsIn(configured)
      const all = await Promise.all(definitions.map(openSource))
      // The idle connections of other ones close by themselves.
      opened = [...all, ...inUse().filter((each) => !all.includes(each))]
      return all.map(({ source }) => source)
    },
    close: async () => {
      await set.stop()
      await Promise.all(opened.map(({ close }) => close()))
    },
  }
}

/** Returns the sources of the configuration and of OPA's. */
async function definitionsIn({ config, opa, readSecret }: Configured): Promise<SourceDefinition[]> {
  const { policies } = config
  const ofOpa = opa?.sources ?? []
  if (policies.sources.length + ofOpa.length === 0) return []
  const { definitionOfSource } = await import('./configured-sources.js')
  const own = policies.sources.map((source) => definitionOfSource(source, readSecret))
  const all = [...own, ...ofOpa]
  const names = [...all, ...(opa?.discovery === undefined ? [] : [opa.discovery.definition])].map(
    ({ name }) => name,
  )
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return all
  throw new AppError(
    'invalid',
    `two sources are named ${twice}: rename one in policies.sources or in ${policies.opaConfig ?? ''}`,
  )
}

/** Logs an activation, and adds it to the trail and to the stored revision. Never rejects. */
export async function recordIt(
  activation: Activation,
  origin: string,
  { logger, store, revisions, knownImpact }: RecordingParts,
): Promise<void> {
  const { source, revision, policies, signer, user, previous, servedBeforeMs } = activation
  logger.info({ source, revision, previous, signer }, 'a new revision serves')
  if (servedBeforeMs !== undefined)
    logger.warn(
      { source, revision, servedBefore: new Date(servedBeforeMs).toISOString() },
      'a source went back to a bundle that served before',
    )
  const [impact, nowMs] = [knownImpact.find(policies), store.now()]
  await store.writer
    .run(recordActivation, { activation, nowMs, origin, impact })
    .catch((raw: unknown) =>
      logger.error({ source, error: toError(raw).message }, 'an activation is missing in the audit trail'),
    )
  await revisions
    .note({ atMs: nowMs, source, by: user ?? origin, signer, impact })
    .catch((raw: unknown) =>
      logger.warn({ source, error: toError(raw).message }, 'an activation is missing in the history'),
    )
}
