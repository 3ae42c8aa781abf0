import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { readSecrets } from '../config/read-secrets.js'
import { RevisionControl } from '../distribution/revision-control.js'
import type { Activation, SourceSet } from '../distribution/source-set.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import { AppError, toError } from '../errors/app-error.js'
import type { Logger } from '../lib/logger.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { OnStop } from './close-parts.js'
import { makeBundleVerification } from './files/bundle-verification.js'
import {
  NOTHING_WRITTEN,
  Policies,
  exceededLimit,
  hostBuiltins,
  keepBuilds,
  refusedRequests,
  type KeptRevisions,
  type KeptSources,
  type LoadObserver,
  type LoadOptions,
  type PolicyLocations,
  type RevisionSources,
  type Snapshot,
} from '../rego/index.js'
import { loadDataInThread, compileModuleInThread } from './threads/load-threads.js'
import { showsPrinted } from './evaluations/open-evaluations.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { openRevisions } from './open-explanations.js'
import { openSources, ownLocations, recordIt } from './open-sources.js'
import type { KnownImpact } from './open-sources.js'
import type { Configured, Reloads } from './reload/reloads.js'
import { findServiceOpa } from './files/service-opa.js'

const MAX_LOGGED_WARNINGS = 50
/** In the data directory. Removing it only makes the next start slower. */
const KEPT_BUILDS = 'compiled'

/** What loading the policies needs of the service. */
export interface PoliciesParts {
  readonly logger: Logger
  readonly store: Pick<ServiceStore, 'writer' | 'now'>
  readonly metrics: ServiceMetrics
  readonly onStop: OnStop
  readonly reloads: Reloads
  /** Called with each snapshot that begins to serve. */
  readonly serving: (snapshot: Snapshot) => void
}

/** The served policies, and the servers that they are downloaded from. */
export interface OpenPolicies {
  readonly policies: Policies
  readonly sources: SourceSet
  /** The stored sources of the revisions that served. */
  readonly revisions: KeptRevisions
  readonly control: RevisionControl
  readonly knownImpact: KnownImpact
}

/**
 * Loads the policies and logs every later load. Throws the error of the first load, and
 * `unavailable` if a source gives no bundle.
 */
export async function openPolicies(config: Config, given: PoliciesParts): Promise<OpenPolicies> {
  const revisions = openRevisions(config)
  const knownImpact: KnownImpact = { find: () => undefined }
  const parts = { ...given, revisions, knownImpact }
  const { reloads, onStop } = parts
  const { set, sourcesOf, close } = openSources({ ...parts, dataDir: config.dataDir })
  onStop('policy sources', close)
  const sources = await sourcesOf(reloads.current)
  // Bundles of sources, pins and changes by clients have records of their own.
  const activated: LoadingParts['activated'] = (change) => {
    if (set.sources.length > 0 || policies.pinned !== undefined || config.policies.writable) return
    void recordIt({ source: 'files', ...change, user: set.requestedBy }, 'files', parts)
  }
  const pinned = await revisions.pinned()
  const pinnedSources = pinned && (await sourcesOfPinned(pinned.revision, revisions))
  const policies: Policies = await set.open(sources, ownLocations(config), (locations) =>
    loadPolicies(config, { locations, pinned: pinnedSources }, { ...parts, activated }),
  )
  if (pinned !== undefined) parts.logger.warn(pinned, 'the policies are pinned to a revision')
  given.serving(policies.current)
  set.start()
  reloads.steps.activate = async (next, changed, record) => {
    const isLoaded = changed.some((key) => LOADED_KEYS.some((loaded) => key.startsWith(loaded)))
    const move = (locations: PolicyLocations): Promise<void> =>
      policies.move({ locations, options: optionsOf(next), record })
    if (isLoaded) await set.change(await sourcesOf(next), ownLocations(next.config), move)
    else await record()
  }
  const control = new RevisionControl(
    { policies, revisions, sources: set, writer: parts.store.writer, knownImpact },
    pinned,
  )
  return { policies, sources: set, revisions, control, knownImpact }
}

/** Throws `invalid` if the sources are gone, because other policies must not serve instead. */
async function sourcesOfPinned(revision: string, revisions: KeptRevisions): Promise<KeptSources> {
  const sources = await revisions.read(revision, Infinity)
  if (sources !== undefined) return sources
  throw new AppError(
    'invalid',
    `the policies are pinned to revision ${revision}, whose stored sources are gone: remove revisions/pinned.json in the data directory to serve the configured policies`,
  )
}

/** Keys of the configuration with an effect on the load of policies. */
const LOADED_KEYS = [
  'policies.directories',
  'policies.bundles',
  'policies.sources',
  'policies.bundleSigning',
  'policies.opaConfig',
  'policies.staticPackages',
  'policies.undefinedData',
]

/** The options of a load that the configuration may change. */
function optionsOf({ config, opa }: Configured): Required<Pick<LoadOptions, 'verification' | 'analysis'>> {
  const { staticPackages, undefinedData, bundleSigning, sources } = config.policies
  return {
    // Read at each load, so that replaced keys and secrets take effect.
    verification: () =>
      makeBundleVerification(
        { bundleSigning, sources },
        readSecrets({ policies: { bundleSigning } }, process.env),
        opa,
      ),
    analysis: { staticPackages, undefinedData },
  }
}

interface LoadingParts extends PoliciesParts, Pick<OpenPolicies, 'revisions'> {
  /** Called after a revision began to serve in place of another. */
  readonly activated: (change: Pick<Activation, 'revision' | 'policies' | 'previous' | 'signer'>) => void
}

async function loadPolicies(
  config: Config,
  { locations, pinned }: { readonly locations: PolicyLocations; readonly pinned: KeptSources | undefined },
  { logger, metrics, reloads, revisions, activated, serving: began }: LoadingParts,
): Promise<Policies> {
  const { limits } = config.policies
  const startedAt = performance.now()
  const builtBy = buildDigest()
  const options = {
    findOpa: () => findServiceOpa(config),
    builtins: hostBuiltins,
    refusedBuiltins: refusedRequests(config.policies),
    includesPrint: showsPrinted(config),
    loadData: loadDataInThread,
    compileModule: compileModuleInThread,
    ...(builtBy === undefined ? {} : { buildModule: keepBuilds(join(config.dataDir, KEPT_BUILDS), builtBy) }),
    keepSources: (sources: RevisionSources) => {
      revisions
        .keep(sources)
        .catch((raw: unknown) =>
          logger.warn({ error: toError(raw).message }, 'sources of policies not stored'),
        )
    },
    limits,
    isPublished: config.policies.publish.name !== undefined,
    ...(config.policies.writable && { written: NOTHING_WRITTEN }),
    ...optionsOf(reloads.current),
  }
  let serving = ''
  const observer: LoadObserver = {
    loaded: (snapshot, durationMs) => {
      metrics.policiesLoaded(durationMs)
      logger.info({ revision: snapshot.revision, durationMs: Math.round(durationMs) }, 'policies loaded')
      logWarnings(snapshot, logger)
      began(snapshot)
      const previous = serving
      serving = snapshot.revision
      if (serving !== previous)
        activated({ revision: serving, policies: serving, previous, signer: signersOf(snapshot) })
    },
    failed: ({ error }) => {
      metrics.policyLoadFailed(exceededLimit(error))
      logger.error(
        { code: error.code, errors: error.details },
        `policies not loaded; the last good ones stay in service: ${error.message}`,
      )
    },
  }
  const policies = await Policies.open(locations, options, observer, pinned)
  serving = policies.current.revision
  const durationMs = performance.now() - startedAt
  metrics.policiesLoaded(durationMs)
  const { revision, packages } = policies.current
  logger.info({ revision, packages: packages.length, durationMs: Math.round(durationMs) }, 'policies loaded')
  logWarnings(policies.current, logger)
  const compiled = config.policies.bundles
  if (compiled.length > 0)
    logger.info({ bundles: compiled }, 'only the Rego that bundles still contain is checked here')
  return policies
}

function signersOf({ sources }: Snapshot): string | undefined {
  const signers = new Set(sources.flatMap(({ signer }) => signer ?? []))
  return signers.size === 0 ? undefined : [...signers].join(', ')
}

/** Logs one line per warning in a form that editors can open, and the number of the rest. */
function logWarnings({ warnings }: Snapshot, logger: Logger): void {
  for (const { code, message, location } of warnings.slice(0, MAX_LOGGED_WARNINGS))
    logger.warn({ code, ...location }, `policies: ${message}`)
  const more = warnings.length - MAX_LOGGED_WARNINGS
  if (more > 0) logger.warn({ more }, 'policies: more warnings; tidegate test shows all of them')
}

/** Most loads take less time. */
const LONG_MS = 5000
const MS_PER_SECOND = 1000

/**
 * Shows a slow or failed load of policies. The status is always up, because the last good policies
 * stay in service.
 */
export function policiesHealth(policies: Pick<Policies, 'failure' | 'loadingMs' | 'pinned'>): HealthPlugin {
  return {
    name: 'policies',
    isUp: () => true,
    warning: () => {
      const { failure, loadingMs, pinned } = policies
      if (loadingMs > LONG_MS) {
        const seconds = Math.round(loadingMs / MS_PER_SECOND)
        return `changed policies have been loading for ${seconds} s; the last good ones are in service`
      }
      if (pinned !== undefined)
        return `the policies are pinned to revision ${pinned}; changes wait for tidegate policies unpin`
      return (
        failure &&
        'changed policies could not be loaded; the last good ones are in service; /health?bundles shows why'
      )
    },
  }
}

/**
 * Shows sources that failed or are stale, under the name that OPA gives its bundles. It is down
 * while a source is stale that must not be.
 */
export function sourcesHealth(set: Pick<SourceSet, 'sources'>): HealthPlugin {
  const stale = (): string[] => set.sources.filter(({ isStale }) => isStale).map(({ name }) => name)
  const staleText = (): string => `stale: ${stale().join(', ')}; GET /policies/sources shows why`
  return {
    name: 'bundle',
    isUp: () => !set.sources.some(({ isStale, settings }) => isStale && settings.staleIsNotReady),
    problem: staleText,
    warning: () => {
      if (stale().length > 0) return staleText()
      const failed = set.sources.filter(({ state }) => state.fetchError ?? state.activationError)
      if (failed.length === 0) return undefined
      const names = failed.map(({ name }) => name).join(', ')
      return `no current bundle from ${names}; the last good ones are in service; GET /policies/sources shows why`
    },
  }
}

/** Digest of all sources and library versions, which the bundler inserts (`build/bundle.js`). */
declare const BUILD_DIGEST: string | undefined

/** Identifies this build of the program. Undefined if the sources run unbundled. */
function buildDigest(): string | undefined {
  return typeof BUILD_DIGEST === 'undefined' ? undefined : BUILD_DIGEST
}
