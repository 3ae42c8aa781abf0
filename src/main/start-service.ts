import type { Config } from '../config/config.js'
import { servedAddresses } from '../config/sections/served-addresses.js'
import { readSecrets } from '../config/read-secrets.js'
import {
  addConditionMetrics,
  addDecisionLogMetrics,
  makeServiceMetrics,
} from '../http/metrics/service-metrics.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import { makeLogger } from '../lib/logger.js'
import type { Logger } from '../lib/logger.js'
import { closeParts } from './close-parts.js'
import type { OpenPart } from './close-parts.js'
import { makeBackgroundWork, openAttempts } from './background-work.js'
import { makeAnalysisMetrics } from '../http/metrics/analysis-metrics.js'
import { openAnalysis } from './open-analysis.js'
import { makeAskRule } from './evaluations/ask-rule.js'
import { openEvaluations } from './evaluations/open-evaluations.js'
import { openDecisions } from './open-decisions.js'
import type { DecisionParts, Decisions } from './open-decisions.js'
import { openGates } from './open-gates.js'
import { openOutbox } from './open-outbox.js'
import { openPolicies } from './open-policies.js'
import { openRegistry } from './open-registry.js'
import { shareConnectionsEvenly } from './open-workers.js'
import { Leadership } from './timers/leadership.js'
import { openTrail } from './open-trail.js'
import { shareHeartbeat } from './threads/main-thread-watch.js'
import { serviceThreads } from './threads/service-threads.js'
import type { ServiceThreads } from './threads/service-threads.js'
import { watchThreads } from './threads/watch-threads.js'
import type { Policies } from '../rego/index.js'
import { keyFiles } from './files/bundle-verification.js'
import { removeTemporaryFiles, temporaryFoldersOf } from './files/temporary-folder.js'
import { writableByOthers } from './files/writable-by-others.js'
import { exitOnFatalError } from './exit-on-fatal-error.js'
import { ignoreOtherSignals, nextSignal } from './signals.js'
import { claimDataDirectory } from '../store/sqlite/engine/claim-data-directory.js'
import { listen } from './listen.js'
import type { OnStop } from './listen.js'
import { tryAddress } from '../http/start-listening.js'

/** A service that runs until it is stopped. */
export interface Service {
  readonly url: string
  /** Of all addresses, the first included. */
  readonly urls: readonly string[]
  /** Writes the decisions that are still in memory. */
  readonly flush: () => Promise<void>
  /** Drains, flushes and releases everything. Gives the names of the parts that failed to close; they are logged. */
  readonly stop: () => Promise<readonly string[]>
}

/**
 * Runs the service until a signal ends it (see `nextSignal`), then drains it; `hint`, if any, is logged once it serves. Gives whether it was closed in
 * order: what was not may hold the process. Raises AppErrors that say why it cannot start.
 */
export async function runServer(config: Config, hint?: string): Promise<boolean> {
  const logger = makeLogger(config.log)
  // Before the start: a signal that comes while it lasts must end it in order too.
  const signalled = nextSignal()
  ignoreOtherSignals(logger)
  const beginHeartbeat = shareHeartbeat(config.log)
  const starting = startService(config, logger)
  exitOnFatalError(logger, async () => (await starting).flush())
  const service = await starting
  const { url, urls } = service
  beginHeartbeat()
  logger.info(urls.length > 1 ? { url, urls } : { url }, 'serving')
  if (hint !== undefined) logger.info(hint)
  const signal = await signalled
  logger.info({ signal }, 'shutting down')
  const failed = await service.stop()
  logger.info(failed.length > 0 ? { failed } : {}, 'shut down')
  return failed.length === 0
}

/**
 * Builds all parts and starts them: the one place where they are put together. What has been opened is closed again
 * when a later part cannot start. Raises AppErrors that say why it cannot start.
 */
export async function startService(
  config: Config,
  logger: Logger,
  threads: ServiceThreads = serviceThreads,
): Promise<Service> {
  const opened: OpenPart[] = []
  try {
    const { urls, flush } = await startParts(config, { logger, beside: threads }, (name, close) =>
      opened.push({ name, close }),
    )
    return { url: urls[0] ?? '', urls, flush, stop: () => closeParts(opened, logger) }
  } catch (raw) {
    await closeParts(opened, logger)
    throw raw
  }
}

interface Outside {
  readonly logger: Logger
  readonly beside: ServiceThreads
}

type Started = Pick<Service, 'urls' | 'flush'>

async function startParts(config: Config, { logger, beside }: Outside, onStop: OnStop): Promise<Started> {
  const addresses = servedAddresses(config.server)
  const readSecret = readSecrets(config, process.env)
  shareConnectionsEvenly(config)
  for (const { address } of addresses) await tryAddress(address)
  await claimFolders(config, logger, onStop)
  const threads = watchThreads(logger)
  const attempts = openAttempts(config)
  onStop('unfinished work', () => attempts.close())
  const store = await beside.openStore(config, { logger, readSecret, threadDied: threads.died })
  onStop('store', store.close)
  const leadership = new Leadership(store.leases)
  const parts = { store, logger, readSecret, attempts, leadership }
  const trail = openTrail(config, parts)
  onStop('trail', trail.close)
  const metrics = makeServiceMetrics()
  const writing: DecisionParts = {
    ...parts,
    take: (report) => trail.decisions.take(report),
    threadDied: threads.died,
    openWriter: beside.openDecisionWriter,
  }
  const [decisions, policies] = await openDeciding(config, writing, metrics, onStop)
  addDecisionLogMetrics(metrics.registry, decisions.log)
  addConditionMetrics(metrics.registry, {
    threadDeaths: threads.deaths,
    decisionLogsRenewed: decisions.timesRenewed,
    policiesLoadingMs: () => policies.loadingMs,
    shipping: decisions.shipping,
  })
  const evaluations = openEvaluations(config, metrics, logger)
  onStop('evaluations', evaluations.close)
  const registry = openRegistry(config, { ...parts, compare: beside.compare })
  onStop('registry', registry.close)
  const outbox = await openOutbox(config, {
    ...parts,
    relayHeaders: registry.relayHeaders,
    attempted: metrics.messageAttempted,
  })
  onStop('outbox', outbox.close)
  const gates = await openGates(config, {
    ...parts,
    policies,
    evaluations: evaluations.evaluations,
    decisionLog: decisions.log,
    wakeOutbox: outbox.wake,
    numbers: registry.numbers,
  })
  onStop('gates', gates.close)
  const askRule = makeAskRule(policies, evaluations.evaluations, { log: decisions.log, now: store.now })
  const analysis = await openAnalysis(config, {
    ...{ ...parts, ...beside, askRule, judged: makeAnalysisMetrics(metrics) },
    wakeOutbox: outbox.wake,
  })
  onStop('analysis', analysis.close)
  const backgroundWork = makeBackgroundWork({ attempts, store, gates, outbox, registry })
  const features = { decisions, policies, evaluations, outbox, gates, trail, registry, analysis }
  const served = { config, logger, store, metrics, backgroundWork, threadDied: threads.died, ...features }
  return { urls: await listen(served, addresses, onStop), flush: () => decisions.log.flush() }
}

/** The data directory for this service alone, and with it the folder of its temporary files, without those of one that was killed. */
async function claimFolders({ dataDir }: Config, logger: Logger, onStop: OnStop): Promise<void> {
  onStop('data directory', claimDataDirectory(dataDir))
  const problem = writableByOthers(dataDir)
  if (problem !== undefined) logger.warn({ dataDir }, problem)
  const folders = temporaryFoldersOf(dataDir)
  await removeTemporaryFiles(folders)
  onStop('temporary files', () => removeTemporaryFiles(folders))
}

/**
 * Opens the decision log, and reads and compiles the policies while its thread starts. Waits for both, so that nothing goes on behind a start that has
 * failed; raises what the first of them was refused with.
 */
async function openDeciding(
  config: Config,
  parts: DecisionParts,
  metrics: ServiceMetrics,
  onStop: OnStop,
): Promise<[Decisions, Policies]> {
  const opening = openDecisions(config, parts).then((decisions) => {
    // Closed before the trail, to which it gives the last decisions.
    onStop('decision log', decisions.close)
    return decisions
  })
  const loading = openWatched(config, parts.logger, metrics, onStop)
  await Promise.allSettled([opening, loading])
  return [await opening, await loading]
}

async function openWatched(
  config: Config,
  logger: Logger,
  metrics: ServiceMetrics,
  onStop: OnStop,
): Promise<Policies> {
  const { watch, directories, bundles, bundleSigning } = config.policies
  if (!watch) return await openPolicies(config, logger, metrics)
  const { noteFiles, watchPolicies } = await import('../rego/loading/watch-policies.js')
  // Before they are read: what is saved while they are loaded is found afterwards.
  const noted = await noteFiles(directories, [...bundles, ...keyFiles(bundleSigning)])
  const policies = await openPolicies(config, logger, metrics)
  const watcher = await watchPolicies(policies, {
    noted,
    unwatched: (error) =>
      logger.error(
        { error: error.message },
        'policies that cannot be watched are looked at every few seconds',
      ),
  })
  onStop('policy watcher', () => watcher.close())
  return policies
}
