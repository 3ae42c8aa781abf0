import { statSync } from 'node:fs'

import type { Config } from '../config/config.js'
import { servedAddresses } from '../config/sections/served-addresses.js'
import { readSecrets } from '../config/read-secrets.js'
import { addFailureMetrics } from '../http/metrics/service-metrics.js'
import { addDecisionLogMetrics, makeServiceMetrics } from '../http/metrics/service-metrics.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import { makeLogger } from '../lib/logger.js'
import type { Logger } from '../lib/logger.js'
import { closeParts } from './close-parts.js'
import type { OnStop, OpenPart } from './close-parts.js'
import { makeBackgroundWork, openAttempts } from './background-work.js'
import { makeAnalysisMetrics } from '../http/metrics/analysis-metrics.js'
import { openAnalysis } from './open-analysis.js'
import { makeEvaluateRule } from './evaluations/internal-evaluations.js'
import { openEvaluations } from './evaluations/open-evaluations.js'
import { openDecisions } from './open-decisions.js'
import type { DecisionParts, Decisions } from './open-decisions.js'
import { openComparisons } from './open-shadow.js'
import { openEnforcement } from './open-enforcement.js'
import { openSignOn } from './open-sign-on.js'
import { openGates } from './open-gates.js'
import { Discovery } from './open-discovery.js'
import { withOpaConfig } from './with-opa-config.js'
import { openTracedStore } from './open-telemetry.js'
import { openOutbox } from './open-outbox.js'
import { openPolicies } from './open-policies.js'
import type { OpenPolicies, PoliciesParts } from './open-policies.js'
import { openRegistry } from './open-registry.js'
import { shareConnectionsEvenly } from './open-workers.js'
import { Reloads } from './reload/reloads.js'
import { Leadership } from './timers/leadership.js'
import { openTrail } from './open-trail.js'
import { shareHeartbeat } from './threads/main-thread-watch.js'
import { keyFiles } from './files/bundle-verification.js'
import { removeTemporaryFiles, temporaryFoldersOf } from './files/temporary-folder.js'
import { exitOnFatalError, ignoreOtherSignals, nextSignal } from './process-events.js'
import { claimDataDirectory } from '../store/sqlite/engine/claim-data-directory.js'
import { listen } from './listen.js'
import { tryAddress } from '../http/start-listening.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import { openStore } from './store/open-store.js'
import { compareInThread } from './threads/comparison-thread.js'
import { openDecisionWriter } from './open-decision-log.js'
import type { OpenDecisionWriter } from './open-decision-log.js'
import { evaluateIntervalInThread, tryQueriesInThread } from './threads/interval-thread.js'

/** Work that a service does outside the deciding thread. Tests replace it. */
export interface ServiceThreads {
  readonly openStore: typeof openStore
  readonly openDecisionWriter: OpenDecisionWriter
  readonly evaluateInterval: typeof evaluateIntervalInThread
  readonly tryQueries: typeof tryQueriesInThread
  readonly compare: typeof compareInThread
}

/** Each in a separate thread. */
const SERVICE_THREADS: ServiceThreads = {
  openStore,
  openDecisionWriter,
  evaluateInterval: evaluateIntervalInThread,
  tryQueries: tryQueriesInThread,
  compare: compareInThread,
}

/** A running service. */
export interface Service {
  readonly url: string
  /** URLs of all addresses, including the first. */
  readonly urls: readonly string[]
  /** Reads and applies the configuration again. Throws as `Reloads.reload`. */
  readonly reload: Reloads['reload']
  /** Writes the decisions that are still in memory. */
  readonly flush: () => Promise<void>
  /**
   * Drains, flushes and releases everything. Returns the names of the parts that failed to close,
   * which are logged.
   */
  readonly stop: () => Promise<readonly string[]>
}

/**
 * Runs the service until a signal ends it (see `nextSignal`), then drains it. `hint` is logged once
 * it serves. Returns whether everything was closed; otherwise a part may keep the process alive.
 * Throws AppErrors that say why the service cannot start.
 */
export async function runServer(
  config: Config,
  { hint, reread }: { readonly hint?: string | undefined; readonly reread: Reread },
): Promise<boolean> {
  const logger = makeLogger(config.log)
  // Registered first, so that a signal during the start also ends it in order.
  const signalled = nextSignal((signal) => {
    starting.then(
      // Failures are logged.
      (running) => running.reload({ user: undefined, origin: signal }).catch(() => undefined),
      () => undefined,
    )
  })
  ignoreOtherSignals(logger)
  const beginHeartbeat = shareHeartbeat(config.log)
  const starting = startService(config, logger, SERVICE_THREADS, reread)
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
 * Builds and starts all parts; the composition root of the service. Closes the opened parts if a
 * later one cannot start. Throws AppErrors that say why the service cannot start.
 */
export async function startService(
  given: Config,
  logger: Logger,
  threads: ServiceThreads = SERVICE_THREADS,
  reread?: Reread,
): Promise<Service> {
  const parts: OpenPart[] = []
  const discovery = new Discovery(logger)
  try {
    const onStop: OnStop = (name, close) => parts.push({ name, close })
    const withOpa = (config: Config): ReturnType<typeof withOpaConfig> =>
      withOpaConfig(config, logger, discovery)
    const opened = await withOpa(given)
    const current = { ...opened, readSecret: readSecrets(opened.config, process.env) }
    const reloads = new Reloads(current, { reread, withOpa, now: Date.now, logger })
    const { urls, flush } = await startParts(reloads, { logger, threads, onStop })
    const reload: Service['reload'] = (caller) => reloads.reload(caller)
    // Stopped first, so that no document is applied while other parts stop.
    onStop('discovery', () => discovery.stop())
    discovery.follow(() => reload({ user: undefined, origin: 'discovery' }))
    return { url: urls[0] ?? '', urls, flush, reload, stop: () => closeParts(parts, logger) }
  } catch (raw) {
    await discovery.stop()
    await closeParts(parts, logger)
    throw raw
  }
}

/** Reads the configuration again. */
type Reread = () => Config | Promise<Config>

interface StartOptions {
  readonly logger: Logger
  readonly threads: ServiceThreads
  readonly onStop: OnStop
}

type Started = Pick<Service, 'urls' | 'flush'>

async function startParts(reloads: Reloads, { logger, threads, onStop }: StartOptions): Promise<Started> {
  const { config, opa, readSecret } = reloads.current
  const addresses = servedAddresses(config.server)
  shareConnectionsEvenly(config)
  for (const { address } of addresses) await tryAddress(address)
  await claimFolders(config, logger, onStop)
  const threadWatch = watchThreads(logger)
  const attempts = openAttempts(config, onStop)
  const opening = { logger, readSecret, onStop, threadDied: threadWatch.died }
  const traced = await openTracedStore(config, threads.openStore, opening)
  const { store } = traced
  const leadership = new Leadership(store.leases)
  const parts = { ...opening, ...traced, attempts, reloads, leadership }
  const trail = openTrail(config, parts)
  onStop('trail', trail.close)
  const metrics = makeServiceMetrics()
  const writing: DecidingParts = {
    ...parts,
    take: (report) => trail.decisions.take(report),
    openWriter: threads.openDecisionWriter,
  }
  const [decisions, opened] = await openDeciding(config, writing, metrics, onStop)
  const { policies } = opened
  countFailures(metrics, { decisions, policies, threadWatch })
  const evaluations = openEvaluations(config, metrics, logger)
  onStop('evaluations', evaluations.close)
  const enforcing = await openEnforcement(config, { ...parts, policies, metrics, onStop })
  const registry = openRegistry(config, { ...parts, compare: threads.compare })
  onStop('registry', registry.close)
  const outbox = await openOutbox({
    ...parts,
    relayHeaders: registry.relayHeaders,
    attempted: metrics.messageAttempted,
  })
  onStop('outbox', outbox.close)
  const gates = await openGates(config, {
    ...{ ...parts, policies },
    evaluations: evaluations.evaluations,
    enforcement: enforcing.enforcement,
    warned: metrics.warned,
    decisionLog: decisions.log,
    wakeOutbox: outbox.wake,
    numbers: registry.numbers,
  })
  onStop('gates', gates.close)
  const askRule = makeEvaluateRule(policies, evaluations.evaluations, { log: decisions.log, now: store.now })
  const analysis = await openAnalysis(config, {
    ...{ ...parts, ...threads, askRule, judged: makeAnalysisMetrics(metrics) },
    wakeOutbox: outbox.wake,
  })
  onStop('analysis', analysis.close)
  const backgroundWork = makeBackgroundWork({ attempts, store, gates, outbox, registry })
  const signOn = await openSignOn(config, { ...parts, now: store.now })
  const served = {
    ...{ ...parts, config, opa, signOn, metrics, backgroundWork },
    ...openComparisons(reloads, { ...opened, enforcing, logger, metrics }, onStop),
    ...{ ...opened, decisions, evaluations, enforcing, outbox, gates, trail, registry, analysis },
  }
  return { urls: await listen(served, addresses, onStop), flush: () => decisions.log.flush() }
}

/** Adds the metrics about failures of the decision log, the policies and threads. */
function countFailures(
  { registry }: ServiceMetrics,
  {
    decisions,
    policies,
    threadWatch,
  }: Pick<OpenPolicies, 'policies'> & { readonly decisions: Decisions; readonly threadWatch: ThreadWatch },
): void {
  addDecisionLogMetrics(registry, decisions.log)
  addFailureMetrics(registry, {
    threadDeaths: threadWatch.deaths,
    decisionLogsRenewed: decisions.timesRenewed,
    policiesLoadingMs: () => policies.loadingMs,
    shipping: decisions.shipping,
    sinks: decisions.sinks,
  })
}

/** Locks the data directory for this service and removes temporary files that a killed one left. */
async function claimFolders({ dataDir }: Config, logger: Logger, onStop: OnStop): Promise<void> {
  onStop('data directory', claimDataDirectory(dataDir))
  const problem = writableByOthers(dataDir)
  if (problem !== undefined) logger.warn({ dataDir }, problem)
  const folders = temporaryFoldersOf(dataDir)
  await removeTemporaryFiles(folders)
  onStop('temporary files', () => removeTemporaryFiles(folders))
}

/** What the decision log and the policies need. */
type DecidingParts = DecisionParts & Omit<PoliciesParts, 'metrics' | 'onStop' | 'serving'>

/**
 * Opens the decision log, and compiles the policies while its thread starts. Waits for both, so
 * that nothing is left running after a failed start. Throws the first error.
 */
async function openDeciding(
  config: Config,
  parts: DecidingParts,
  metrics: ServiceMetrics,
  onStop: OnStop,
): Promise<[Decisions, OpenPolicies]> {
  const opening = openDecisions(config, parts).then((decisions) => {
    // Closed before the trail, which receives the last decisions from it.
    onStop('decision log', decisions.close)
    return decisions
  })
  const serving: PoliciesParts['serving'] = (snapshot) =>
    void opening.then(
      ({ follow }) => follow(snapshot),
      () => undefined,
    )
  const loading = openWatched(config, { ...parts, metrics, onStop, serving })
  await Promise.allSettled([opening, loading])
  return [await opening, await loading]
}

async function openWatched(config: Config, parts: PoliciesParts): Promise<OpenPolicies> {
  const { watch, directories, bundles, bundleSigning } = config.policies
  const { logger, onStop } = parts
  if (!watch) return await openPolicies(config, parts)
  const { noteFiles, watchPolicies } = await import('../rego/loading/watch-policies.js')
  // Noted before the policies are read, so that changes during the load are detected.
  const noted = await noteFiles(directories, [...bundles, ...keyFiles(bundleSigning)])
  const opened = await openPolicies(config, parts)
  const watcher = await watchPolicies(opened.policies, {
    noted,
    unwatched: (error) =>
      logger.error(
        { error: error.message },
        'policies cannot be watched; they are checked every few seconds',
      ),
  })
  onStop('policy watcher', () => watcher.close())
  return opened
}

/** Counts unexpected ends of threads. */
interface ThreadWatch {
  readonly died: (death: ThreadDeath) => void
  /** Number of unexpected ends of each thread since the start of the service. */
  readonly deaths: () => ReadonlyMap<string, number>
}

/** Logs and counts each unexpected end of a thread. */
function watchThreads(logger: Logger): ThreadWatch {
  const deaths = new Map<string, number>()
  return {
    died: ({ thread, reason, recentCrashes }) => {
      deaths.set(thread, (deaths.get(thread) ?? 0) + 1)
      logger.error({ thread, error: reason, recentCrashes }, 'a thread has ended and is restarted')
    },
    deaths: () => deaths,
  }
}

const OTHERS_MAY_WRITE = 0o002

/**
 * Why a data directory is unsafe and how to fix it. Undefined if only its owner and group can write
 * to it, and on Windows, which has no such modes.
 */
export function writableByOthers(dataDir: string): string | undefined {
  if (process.platform === 'win32') return undefined
  const stats = statSync(dataDir, { throwIfNoEntry: false })
  if (stats === undefined || (stats.mode & OTHERS_MAY_WRITE) === 0) return undefined
  return `every user of this machine can replace files in the data directory ${dataDir}: run chmod o-w ${dataDir}`
}
