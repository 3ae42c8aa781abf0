import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { readSecrets } from '../config/read-secrets.js'
import type { ServiceMetrics } from '../http/pipeline/service-metrics.js'
import type { Logger } from '../lib/logger.js'
import { makeBundleVerification } from './files/bundle-verification.js'
import {
  Policies,
  exceededLimit,
  hostBuiltins,
  keepBuilds,
  refusedRequests,
  findOpa,
  opaLimits,
  type Snapshot,
  type OpaProgram,
} from '../rego/index.js'
import { loadDataInThread, compileModuleInThread } from './threads/load-threads.js'
import { showsPrinted } from './evaluations/open-evaluations.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { temporaryFolderOf } from './files/temporary-folder.js'

const MAX_LOGGED_WARNINGS = 50
/** In the data directory; whoever removes it loses nothing but the time of the next start. */
const KEPT_BUILDS = 'compiled'

/** Loads the policies and tells of every later load. Raises the AppError that the first one failed with. */
export async function openPolicies(
  config: Config,
  logger: Logger,
  metrics: ServiceMetrics,
): Promise<Policies> {
  const { directories, bundles, limits, staticPackages, undefinedData, bundleSigning } = config.policies
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
    limits,
    // At each load, so that a key or a secret that was replaced is seen.
    verification: () =>
      makeBundleVerification(bundleSigning, readSecrets({ policies: { bundleSigning } }, process.env)),
    analysis: { staticPackages, undefinedData },
  }
  const policies = await Policies.open({ directories, bundles }, options, {
    loaded: (snapshot, durationMs) => {
      metrics.policiesLoaded(durationMs)
      logger.info({ revision: snapshot.revision, durationMs: Math.round(durationMs) }, 'policies loaded')
      logWarnings(snapshot, logger)
    },
    failed: ({ error }) => {
      metrics.policyLoadFailed(exceededLimit(error))
      logger.error(
        { code: error.code, errors: error.details },
        `policies not loaded, the last good ones serve on: ${error.message}`,
      )
    },
  })
  const durationMs = performance.now() - startedAt
  metrics.policiesLoaded(durationMs)
  const { revision, packages } = policies.current
  logger.info({ revision, packages: packages.length, durationMs: Math.round(durationMs) }, 'policies loaded')
  logWarnings(policies.current, logger)
  if (bundles.length > 0)
    logger.info(
      { bundles },
      'of bundles only the Rego that they still hold is looked through; what tidegate build compiled away it has looked through itself',
    )
  return policies
}

/** One line for each, as an editor can follow it; the rest is counted. */
function logWarnings({ warnings }: Snapshot, logger: Logger): void {
  for (const { code, message, location } of warnings.slice(0, MAX_LOGGED_WARNINGS))
    logger.warn({ code, ...location }, `policies: ${message}`)
  const more = warnings.length - MAX_LOGGED_WARNINGS
  if (more > 0) logger.warn({ more }, 'policies: there are more such findings; tidegate test tells them all')
}

/** Most loads take less. */
const LONG_MS = 5000
const MS_PER_SECOND = 1000

/** Shows a load of policies that takes long or has failed. Policies always serve: the last good ones. */
export function policiesHealth(policies: Pick<Policies, 'failure' | 'loadingMs'>): HealthPlugin {
  return {
    name: 'policies',
    isUp: () => true,
    warning: () => {
      const { failure, loadingMs } = policies
      if (loadingMs > LONG_MS) {
        const seconds = Math.round(loadingMs / MS_PER_SECOND)
        return `changed policies have been loading for ${seconds} s; the last good ones are in service`
      }
      return (
        failure &&
        'changed policies could not be loaded, the last good ones are in service; /health?bundles shows why'
      )
    },
  }
}

/** The `opa` program for a service, with its temporary files among those of the service. Raises as `findOpa`. */
async function findServiceOpa({ policies, dataDir }: Config): Promise<OpaProgram> {
  const program = await findOpa({ named: policies.opa, env: process.env, limits: opaLimits(policies) })
  const temporaryFolder = temporaryFolderOf(dataDir)
  return temporaryFolder === undefined ? program : { ...program, temporaryFolder }
}

/** What the bundler puts in (`build/bundle.js`): a digest of all sources and of the libraries' versions. */
declare const BUILD_DIGEST: string | undefined

/** Tells this build of the program from others, also of the same version; undefined where the sources run as they are. */
function buildDigest(): string | undefined {
  return typeof BUILD_DIGEST === 'undefined' ? undefined : BUILD_DIGEST
}
