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
  type Stage,
} from '../rego/index.js'
import { loadDataInThread, compileModuleInThread } from './threads/load-threads.js'
import { showsPrinted } from './evaluations/open-evaluations.js'
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
  readonly stages: Stages
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
  set.discovery = reloads.current.discovery
  const sources = await sourcesOf(reloads.current)
  // Bundles of sources, pins and changes by clients have records of their own.
  const activated: LoadingParts['activated'] = (change) => {
    if (set.sources.length > 0 || policies.pinned !== undefined || config.policies.writable) return
    void recordIt({ source: 'files', ...change, user: set.requestedBy }, 'files', parts)
  }
  const pinned = await revisions.pinned()
  const pinnedSources = pinned && (await sourcesOfPinned(pinned.revision, revisions))
  const stored = pinnedSources ?? (sources.length === 0 ? await lastServed(config, revisions) : undefined)
  const stages: Stages = { ended: new Map(), begun: () => Promise.resolve() }
  const policies: Policies = await set.open(sources, ownLocations(config), (locations) =>
    loadPolicies(
      config,
      { locations, stored, isPinned: pinned !== undefined },
      { ...parts, activated, stages },
    ),
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
  stages.begun = (stage) =>
    control
      .recordStage(stage, { user: set.requestedBy, origin: 'stage', nowMs: parts.store.now() })
      .catch((raw: unknown) =>
        parts.logger.error({ error: toError(raw).message }, 'a stage is missing in the audit trail'),
      )
  await control
    .resumeStage({ origin: 'stage', nowMs: parts.store.now() })
    .catch((raw: unknown) =>
      parts.logger.error({ error: toError(raw).message }, 'the stage of a pin does not begin again'),
    )
  // The files may have changed since, and then begin a stage.
  if (stored !== undefined && pinned === undefined) await policies.reload()
  return { policies, sources: set, revisions, control, knownImpact, stages }
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

/**
 * Returns the revision that served last, if changed files answer a share of requests first.
 * Undefined if it is not stored completely.
 */
async function lastServed({ policies }: Config, revisions: KeptRevisions): Promise<KeptSources | undefined> {
  if (policies.staged.sharePercent === 0) return undefined
  const sources = await revisions.lastServed()
  return sources === undefined || sources.withoutRego.length + sources.dataBytesLeftOut > 0
    ? undefined
    : sources
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

/** Returns how bundles are verified. Keys and secrets are read at each load, as they may change. */
export function verificationOf({
  config,
  opa,
}: Pick<Configured, 'config' | 'opa'>): NonNullable<LoadOptions['verification']> {
  const { bundleSigning, sources } = config.policies
  return () =>
    makeBundleVerification(
      { bundleSigning, sources },
      readSecrets({ policies: { bundleSigning } }, process.env),
      opa,
    )
}

/** The options of a load that the configuration may change. */
function optionsOf(configured: Configured): Required<Pick<LoadOptions, 'verification' | 'analysis'>> {
  const { staticPackages, undefinedData } = configured.config.policies
  return {
    verification: verificationOf(configured),
    analysis: { staticPackages, undefinedData },
  }
}

interface LoadingParts extends PoliciesParts, Pick<OpenPolicies, 'revisions' | 'stages'> {
  /** Called after a revision began to serve in place of another. */
  readonly activated: (change: Pick<Activation, 'revision' | 'policies' | 'previous' | 'signer'>) => void
}

interface FirstLoad {
  readonly locations: PolicyLocations
  /** Sources that serve first in place of the locations. */
  readonly stored: KeptSources | undefined
  readonly isPinned: boolean
}

async function loadPolicies(
  config: Config,
  { locations, stored, isPinned }: FirstLoad,
  { logger, metrics, reloads, revisions, activated, stages, serving: began }: LoadingParts,
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
    keepSources: keepIn(revisions, logger),
    limits,
    stageShare: () => reloads.config.policies.staged.sharePercent || undefined,
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
    ...stageObserver(stages, logger),
    failed: ({ error }) => {
      metrics.policyLoadFailed(exceededLimit(error))
      logger.error(
        { code: error.code, errors: error.details },
        `policies not loaded; the last good ones stay in service: ${error.message}`,
      )
    },
  }
  const open = (first: KeptSources | undefined): Promise<Policies> =>
    Policies.open(locations, options, observer, first, isPinned)
  const policies = await open(stored).catch((raw: unknown) => {
    if (stored === undefined || isPinned) throw raw
    logger.warn({ error: toError(raw).message }, 'the revision that served last cannot be loaded')
    return open(undefined)
  })
  serving = policies.current.revision
  const durationMs = performance.now() - startedAt
  metrics.policiesLoaded(durationMs)
  logFirstLoad(policies.current, durationMs, config.policies.bundles, logger)
  return policies
}

function keepIn(revisions: KeptRevisions, logger: Logger): (sources: RevisionSources) => void {
  return (sources) => {
    revisions
      .keep(sources)
      .catch((raw: unknown) => logger.warn({ error: toError(raw).message }, 'sources of policies not stored'))
  }
}

function logFirstLoad(
  snapshot: Snapshot,
  durationMs: number,
  compiled: readonly string[],
  logger: Logger,
): void {
  const { revision, packages } = snapshot
  logger.info({ revision, packages: packages.length, durationMs: Math.round(durationMs) }, 'policies loaded')
  logWarnings(snapshot, logger)
  if (compiled.length > 0)
    logger.info({ bundles: compiled }, 'only the Rego that bundles still contain is checked here')
}

function signersOf({ sources }: Snapshot): string | undefined {
  const signers = new Set(sources.flatMap(({ signer }) => signer ?? []))
  return signers.size === 0 ? undefined : [...signers].join(', ')
}

/** Stages of new policies. */
export interface Stages {
  /** Number of stages by how they ended. */
  readonly ended: Map<string, number>
  /** Records the begin of a stage. Never rejects. */
  begun: (stage: Stage) => Promise<void>
}

function stageObserver(stages: Stages, logger: Logger): Pick<LoadObserver, 'staged' | 'stageEnded'> {
  return {
    staged: (stage) => {
      const { snapshot, sharePercent } = stage
      logger.info({ revision: snapshot.revision, sharePercent }, 'a new revision answers a share of requests')
      void stages.begun(stage)
    },
    stageEnded: ({ snapshot: { revision } }, end) => {
      const outcome = typeof end === 'string' ? end : 'taken_back'
      stages.ended.set(outcome, (stages.ended.get(outcome) ?? 0) + 1)
      if (typeof end === 'string') logger.info({ revision }, `the stage of a revision has ended: ${end}`)
      else logger.error({ revision }, end.message)
    },
  }
}

/** Logs one line per warning in a form that editors can open, and the number of the rest. */
function logWarnings({ warnings }: Snapshot, logger: Logger): void {
  for (const { code, message, location } of warnings.slice(0, MAX_LOGGED_WARNINGS))
    logger.warn({ code, ...location }, `policies: ${message}`)
  const more = warnings.length - MAX_LOGGED_WARNINGS
  if (more > 0) logger.warn({ more }, 'policies: more warnings; tidegate test shows all of them')
}

/** Digest of all sources and library versions, which the bundler inserts (`build/bundle.js`). */
declare const BUILD_DIGEST: string | undefined

/** Identifies this build of the program. Undefined if the sources run unbundled. */
function buildDigest(): string | undefined {
  return typeof BUILD_DIGEST === 'undefined' ? undefined : BUILD_DIGEST
}
