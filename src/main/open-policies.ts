import { join } from 'node:path'

import type { Config } from '../config/config.js'
import { readSecrets } from '../config/read-secrets.js'
import { buildDigest } from '../lib/build-digest.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import type { Logger } from '../lib/logger.js'
import { makeBundleVerification } from './files/bundle-verification.js'
import { findServiceOpa } from './files/find-service-opa.js'
import {
  Policies,
  exceededLimit,
  hostBuiltins,
  keepBuilds,
  refusedRequests,
  type Snapshot,
} from '../rego/index.js'
import { loadDataInThread } from './threads/data-thread.js'
import { compileModuleInThread } from './threads/module-thread.js'
import { showsPrinted } from './evaluations/printed-lines.js'

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
