import type { Config } from '../config/config.js'
import { isLoopback, parseListenAddress } from '../config/sections/listen-address.js'
import type { ListenAddress } from '../config/sections/listen-address.js'
import { readSecrets } from '../config/read-secrets.js'
import { decisionsOfExecution } from '../decisions/query-decisions.js'
import { AppError } from '../errors/app-error.js'
import { makeApp, makeApplication } from '../http/app.js'
import { makeAuthenticate } from '../http/pipeline/authenticate.js'
import { makeRequestHandler } from '../http/transport/handle-request.js'
import { logRequest } from '../http/pipeline/log-request.js'
import type { PolicyContext } from '../http/policy/policy-context.js'
import { withEventRoutes } from '../http/events/events.js'
import type { TrailRoutesDeps } from '../http/routes/mount-trail.js'
import { addTrailMetrics } from '../http/routes/trail-metrics.js'
import { startServer } from '../http/server.js'
import { addConditionMetrics } from '../http/pipeline/condition-metrics.js'
import { makeServiceMetrics } from '../http/pipeline/service-metrics.js'
import type { ServiceMetrics } from '../http/pipeline/service-metrics.js'
import { makeLogger } from '../lib/logger.js'
import type { Logger } from '../lib/logger.js'
import { packageVersion } from '../lib/package-root.js'
import { makeTimeOrderedIds } from '../lib/time-ordered-id.js'
import { openAdmission } from './open-admission.js'
import { closeParts } from './close-parts.js'
import type { OpenPart } from './close-parts.js'
import { makeBackgroundWork, openAttempts } from './background-work.js'
import type { BackgroundWork } from './background-work.js'
import { openAnalysis } from './open-analysis.js'
import type { OpenAnalysis } from './open-analysis.js'
import { openEvaluations } from './open-evaluations.js'
import type { OpenEvaluations } from './open-evaluations.js'
import { openDecisions } from './open-decisions.js'
import type { Decisions } from './open-decisions.js'
import { openGates } from './open-gates.js'
import type { OpenGates } from './open-gates.js'
import { openOutbox } from './open-outbox.js'
import type { OpenOutbox } from './open-outbox.js'
import { openPolicies } from './open-policies.js'
import { openRegistry } from './open-registry.js'
import type { OpenRegistry } from './open-registry.js'
import { openStore, storeHealth } from './store/open-store.js'
import { openTrail } from './open-trail.js'
import { watchThreads } from './threads/watch-threads.js'
import type { OpenTrail } from './open-trail.js'
import { openYamlReader } from './threads/yaml-thread.js'
import type { Policies } from '../pdp/loading/policies.js'
import { publicKeyFiles } from './files/bundle-verification.js'
import { watchPolicies } from '../pdp/loading/watch-policies.js'
import { claimDataDirectory } from '../store/sqlite/engine/claim-data-directory.js'
import type { ServiceStore } from '../store/ports/service-store.js'

const MS_PER_SECOND = 1000

/** A service that runs until it is stopped. */
export interface Service {
  readonly url: string
  /** Drains, flushes and releases everything. Gives the names of the parts that failed to close; they are logged. */
  stop(): Promise<readonly string[]>
}

/**
 * Runs the service until SIGTERM or SIGINT, then drains it. Gives whether it was closed in order: what was not may hold the
 * process. Raises AppErrors that say why it cannot start.
 */
export async function runServer(config: Config): Promise<boolean> {
  const logger = makeLogger(config.log)
  // Before the start: a signal that comes while it lasts must end it in order too.
  const signalled = nextSignal()
  const service = await startService(config, logger)
  logger.info({ url: service.url }, 'serving')
  const signal = await signalled
  logger.info({ signal }, 'shutting down')
  const failed = await service.stop()
  logger.info(failed.length > 0 ? { failed } : {}, 'shut down')
  return failed.length === 0
}

/**
 * Builds all parts and starts them: the one place where they are put together. What has been opened is closed again
 * when a later part cannot start.
 */
async function startService(config: Config, logger: Logger): Promise<Service> {
  const opened: OpenPart[] = []
  try {
    const url = await startParts(config, logger, (name, close) => opened.push({ name, close }))
    return { url, stop: () => closeParts(opened, logger) }
  } catch (raw) {
    await closeParts(opened, logger)
    throw raw
  }
}

/** Takes what closes a part that has been opened. */
type OnStop = (name: string, close: OpenPart['close']) => void

async function startParts(config: Config, logger: Logger, onStop: OnStop): Promise<string> {
  const address = parseListenAddress(config.server.addr)
  if (address === undefined)
    throw new AppError('invalid', `server.addr is not HOST:PORT: ${config.server.addr}`)
  const readSecret = readSecrets(config, process.env)
  onStop('data directory', claimDataDirectory(config.dataDir))
  const threads = watchThreads(logger)
  const attempts = openAttempts(config)
  onStop('unfinished work', () => attempts.close())
  const store = await openStore(config, logger, threads.died)
  onStop('store', store.close)
  const parts = { store, logger, readSecret, attempts }
  const trail = openTrail(config, parts)
  onStop('trail', trail.close)
  // Closed before the trail, to which it gives the last decisions.
  const decisions = await openDecisions(config, logger, {
    take: (report) => trail.decisions.take(report),
    threadDied: threads.died,
  })
  onStop('decision log', decisions.close)
  const metrics = makeServiceMetrics(decisions.log)
  addConditionMetrics(metrics.registry, {
    threadDeaths: threads.deaths,
    decisionLogsRenewed: decisions.timesRenewed,
  })
  const policies = await openPolicies(config, logger, metrics, readSecret)
  if (config.policies.watch) await watch(config, policies, onStop)
  const evaluations = openEvaluations(config, metrics)
  onStop('evaluations', evaluations.close)
  const registry = openRegistry(config, parts)
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
    findPipelineIds: registry.findPipelineIds,
  })
  onStop('gates', gates.close)
  const analysis = await openAnalysis(config, parts)
  onStop('analysis', analysis.close)
  const backgroundWork = makeBackgroundWork({ attempts, store, gates, outbox, registry })
  const features = { decisions, policies, evaluations, outbox, gates, trail, registry, analysis }
  return await listen({ config, logger, store, metrics, backgroundWork, ...features }, address, onStop)
}

async function watch(config: Config, policies: Policies, onStop: OnStop): Promise<void> {
  const watcher = await watchPolicies(policies, publicKeyFiles(config.policies.bundleSigning))
  onStop('policy watcher', () => watcher.close())
}

/** All parts, ready to be asked. */
interface Parts {
  readonly config: Config
  readonly logger: Logger
  readonly store: ServiceStore
  readonly decisions: Decisions
  readonly policies: Policies
  readonly evaluations: OpenEvaluations
  readonly metrics: ServiceMetrics
  readonly outbox: OpenOutbox
  readonly gates: OpenGates
  readonly trail: OpenTrail
  readonly registry: OpenRegistry
  readonly analysis: OpenAnalysis
  readonly backgroundWork: BackgroundWork
}

/** Puts the parts behind one HTTP server; gives its URL. */
async function listen(parts: Parts, address: ListenAddress, onStop: OnStop): Promise<string> {
  const { config, logger, decisions, policies, metrics, outbox, gates, trail, registry } = parts
  const authenticate = makeAuthenticate(config.auth)
  const version = packageVersion()
  const health = {
    policies,
    plugins: [decisions.health, registry.health, storeHealth(parts.store), parts.backgroundWork.health],
  }
  const app = makeApp({
    authenticate,
    health,
    decisions: decisions.read,
    outbox: outbox.routes,
    backgroundWork: parts.backgroundWork.routes,
    gates: gates.routes,
    trail: trailRoutes(parts),
    analysis: parts.analysis.routes,
    metrics,
    version,
  })
  const yaml = openYamlReader()
  onStop('reader of YAML', yaml.close)
  const { eventsAtRoot } = config.orchestrator
  const admission = openAdmission(config, address.host)
  const handle = makeRequestHandler({
    admit: admission.admit,
    authenticate,
    eventsAtRoot,
    policy: { ...policyContext(parts, version), readYaml: yaml.toJson },
    application: withEventRoutes(
      { authenticate, intake: trail.intake, maxBodyBytes: config.audit.maxBodyBytes, atRoot: eventsAtRoot },
      makeApplication(app),
    ),
    finished: (exchange) => {
      metrics.requested(exchange)
      logRequest(logger, exchange)
    },
  })
  warnWhenOpen(config, address.host, logger)
  const maxBodyBytes = Math.max(config.server.maxBodyBytes, config.audit.maxBodyBytes)
  const { takesHost } = admission
  const hasFastTransport = config.server.fastLane
  const server = await startServer(handle, { address, takesHost, maxBodyBytes, hasFastTransport })
  onStop('server', async () => {
    parts.evaluations.drain()
    await server.stop(config.server.drainSeconds * MS_PER_SECOND)
  })
  return server.url
}

/** What the routes about the trail and the registry need, and their figures in the metrics. */
function trailRoutes({ config, store, decisions, metrics, outbox, trail, registry }: Parts): TrailRoutesDeps {
  addTrailMetrics(metrics.registry, {
    intake: () => trail.intake.figures,
    decisions: () => trail.decisions.figures,
    unindexed: () => store.lookups.audit.unindexed(),
    reconciliations: registry.status,
  })
  const { reader, writer, lookups } = store
  const { read } = decisions
  return {
    audit: trail.routes,
    timeline: {
      reader,
      decisionsOf: read && ((executionId, limit) => decisionsOfExecution(read, executionId, limit)),
    },
    registry: { reader, lookups: lookups.registry },
    insights: { reader, now: Date.now },
    webhooks: {
      settings: registry.settings,
      writer,
      now: Date.now,
      wakeOutbox: outbox.wake,
      maxBodyBytes: config.audit.maxBodyBytes,
    },
  }
}

function policyContext(
  { config, policies, evaluations, decisions, metrics }: Parts,
  version: string,
): Omit<PolicyContext, 'readYaml'> {
  return {
    policies,
    evaluations: evaluations.evaluations,
    decisionLog: decisions.log,
    isLogging: config.decisions.enabled,
    maxBodyBytes: config.server.maxBodyBytes,
    staticPackages: config.policies.staticPackages,
    defaultDecision: config.policies.defaultDecision.replace(/^\//, ''),
    version,
    nextDecisionId: makeTimeOrderedIds(),
    evaluated: metrics.evaluated,
  }
}

function warnWhenOpen(config: Config, host: string, logger: Logger): void {
  if (config.auth.tokens.length > 0 || isLoopback(host)) return
  logger.warn(
    { addr: config.server.addr },
    config.server.allowedHosts.length > 0
      ? 'listening beyond loopback without tokens: whoever reaches the port may do everything'
      : 'listening beyond loopback without tokens: whoever reaches the port may do everything; pages in browsers too, unless server.allowedHosts lists the names of the service',
  )
}

/** The first signal. The one after it ends the process at once, as if nobody listened. */
function nextSignal(): Promise<string> {
  const signals = ['SIGTERM', 'SIGINT'] as const
  return new Promise((resolve) => {
    const taken = (signal: string): void => {
      for (const each of signals) process.off(each, taken)
      resolve(signal)
    }
    for (const signal of signals) process.on(signal, taken)
  })
}
