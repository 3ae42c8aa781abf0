import type { Config } from '../config/config.js'
import { isLocalAddress } from '../config/sections/listen-address.js'
import type { ServedAddress } from '../config/sections/served-addresses.js'
import { decisionsOfExecution } from '../decisions/query-decisions.js'
import type { DecisionQueryDeps } from '../decisions/query-decisions.js'
import { directLists, routesForProbes } from '../http/direct-routes.js'
import { makeCheckRevocation } from '../http/transport/tls/revocation-lists.js'
import { makeAuthenticate } from '../http/pipeline/authenticate.js'
import type { Authenticate } from '../http/pipeline/authenticate.js'
import { RequestLog } from '../http/pipeline/request-log.js'
import type { Exchange } from '../http/exchange/exchange.js'
import { makeRequestHandler } from '../http/transport/handle-request.js'
import type { PolicyContext } from '../http/policy/decision.js'
import { MIN_FILES } from '../http/server.js'
import { guardRoutes } from '../http/pipeline/guarded-routes.js'
import type { GuardedRoute } from '../http/pipeline/guarded-routes.js'
import { makeFindDirectRoute } from '../http/pipeline/find-direct-route.js'
import type { RoutesDeps } from '../http/route-lists.js'
import type { WebApplicationParts, WebApplications } from '../http/web-application.js'
import { addTrailMetrics } from '../http/metrics/trail-metrics.js'
import type { Logger } from '../lib/logger.js'
import { partOnDemand } from '../lib/on-demand.js'
import { packageVersion } from '../lib/package-root.js'
import { openFilesLimit } from '../lib/processes/system-limits.js'
import type { TimelineDeps } from '../audit/execution-timeline.js'
import type { BrowserAccess } from '../http/sessions/browser-access.js'
import { formRoutes, openBrowserAccess, pageRoutes } from './open-interface.js'
import type { ServedParts } from './served-parts.js'
import type { Decisions } from './open-decisions.js'
import { openTls } from './addresses/open-tls.js'
import { Servers } from './addresses/open-servers.js'
import type { Answering } from './addresses/open-servers.js'
import { storeHealth } from './store/open-store.js'
import { openWorkers, processesOf } from './open-workers.js'
import type { OpenWorkers, SharedListener } from './open-workers.js'
import type { TlsFiles } from './files/tls-files.js'
import { policiesHealth } from './policies-health.js'
import { policyContext } from './policy-context.js'
import { openYamlReader } from './threads/yaml-thread.js'
import type { OpenPart } from './close-parts.js'

const MS_PER_SECOND = 1000

/** Takes what closes a part that has been opened. */
export type OnStop = (name: string, close: OpenPart['close']) => void

/** Puts the parts behind HTTP servers, one for each address; returns their URLs. */
export async function listen(
  parts: ServedParts,
  addresses: readonly ServedAddress[],
  onStop: OnStop,
): Promise<string[]> {
  const { config, logger } = parts
  const yaml = openYamlReader()
  onStop('reader of YAML', yaml.close)
  const tls = await openTls(config, logger)
  if (tls !== undefined) onStop('certificate', () => tls.close())
  const workers = openWorkers(parts)
  const authenticate = makeAuthenticate({
    ...config.auth,
    checkRevocation: makeCheckRevocation(() => tls?.settings),
  })
  const browsers = await openBrowserAccess(parts, authenticate)
  const deps = routesDeps(parts, { browsers, workers, tls }, yaml.toJson)
  addFigures(parts)
  const requestLog = new RequestLog(logger)
  onStop('request log', () => requestLog.close())
  const finished = (exchange: Exchange): void => {
    parts.metrics.requested(exchange)
    requestLog.note(exchange)
  }
  const direct = directRoutes(config, deps, authenticate)
  const web = openWeb({
    ...{ deps, authenticate, options: config.orchestrator },
    authenticatePage: browsers.authenticate,
  })
  const everything: Answering = {
    find: makeFindDirectRoute(direct),
    application: async (exchange) => (await web()).everything(exchange),
    finished,
  }
  const probes: Answering = {
    find: makeFindDirectRoute(routesForProbes(direct)),
    application: async (exchange) => (await web()).probes(exchange),
    finished,
  }
  warnOfRisks(config, addresses, logger)
  const servers = new Servers({ config, logger, processes: processesOf(config), tls: () => tls?.settings })
  onStop('server', async () => {
    parts.evaluations.drain()
    parts.store.closing?.()
    const drainMs = config.server.drainSeconds * MS_PER_SECOND
    await Promise.all([servers.stop(drainMs), workers.stop(drainMs)])
  })
  const shared: SharedListener[] = []
  for (const served of addresses) {
    const { listener } = await servers.start(served, served.serves === 'all' ? everything : probes)
    shared.push({ served, listener })
  }
  tls?.onRenewal((settings) => {
    servers.renewTls(settings)
    workers.renewTls(settings)
  })
  // A worker has let in what it passes on.
  const handle = makeRequestHandler({ ...everything, admit: () => undefined })
  await workers.serve(shared, { handle, room: servers.room }, () => tls?.settings)
  return servers.urls
}

/** What is answered on the exchange itself. */
function directRoutes(
  { orchestrator }: Config,
  deps: RoutesDeps,
  authenticate: Authenticate,
): readonly GuardedRoute[] {
  const bound = Object.values(directLists(orchestrator)).flatMap(({ bind }) => bind(deps))
  return guardRoutes(bound, authenticate)
}

/** Most services that decide are asked for little else: what answers that takes long to load, and much memory. */
function openWeb(parts: WebApplicationParts): () => Promise<WebApplications> {
  return partOnDemand(async () => {
    const { makeWebApplications } = await import('../http/web-application.js')
    return makeWebApplications(parts)
  })
}

/** Makes the description of the API when somebody first asks for it. */
function describeOnce({ orchestrator, server }: Config): () => Promise<string> {
  return partOnDemand(async () => {
    const { describeApi } = await import('../http/web-application.js')
    const { openApiOptions } = await import('../http/openapi/openapi-document.js')
    return describeApi(orchestrator, openApiOptions(packageVersion(), server))
  })
}

/** What is opened beside the parts. */
interface OpenedHere {
  readonly browsers: BrowserAccess
  readonly workers: OpenWorkers
  readonly tls: TlsFiles | undefined
}

/** What the routes of each feature are given. */
function routesDeps(
  parts: ServedParts,
  { browsers, workers, tls }: OpenedHere,
  readYaml: PolicyContext['readYaml'],
): RoutesDeps {
  const { config, store, decisions, policies, metrics, outbox, gates, trail, registry } = parts
  const { backgroundWork, analysis, evaluations } = parts
  const { reader, writer, lookups } = store
  const read = readingAll(decisions, workers)
  const version = packageVersion()
  const { maxBodyBytes } = config.audit
  const timeline: TimelineDeps = {
    reader,
    decisionsOf: read && ((executionId, limit) => decisionsOfExecution(read, executionId, limit)),
  }
  return {
    policy: policyContext(config, {
      policies,
      evaluations: evaluations.evaluations,
      decisionLog: decisions.log,
      readYaml,
      evaluated: metrics.evaluated,
    }),
    about: { version, metrics: workers.figures, openApi: describeOnce(config) },
    health: {
      policies,
      plugins: [
        decisions.health,
        policiesHealth(policies),
        registry.health,
        storeHealth(store),
        backgroundWork.health,
        workers.health,
        analysis.health,
        ...(tls === undefined ? [] : [tls.health]),
      ],
    },
    decisions: read,
    gates: gates.routes,
    forms: formRoutes(parts),
    events: { intake: trail.intake, maxBodyBytes },
    audit: trail.routes,
    pages: pageRoutes(parts, { browsers, timeline, decisions: read }),
    timeline,
    registry: { reader, lookups: lookups.registry },
    insights: { reader, now: store.now },
    webhooks: { settings: registry.settings, writer, now: store.now, wakeOutbox: outbox.wake, maxBodyBytes },
    outbox: outbox.routes,
    backgroundWork: backgroundWork.routes,
    analysis: analysis.routes,
  }
}

/** The decision log as it is read: with what workers have decided. */
function readingAll({ read }: Decisions, workers: OpenWorkers): Decisions['read'] {
  const flushed = ({ store, log }: DecisionQueryDeps): DecisionQueryDeps => ({
    store,
    log: {
      flush: async () => {
        await workers.flush()
        await log.flush()
      },
    },
  })
  return read && { ...flushed(read), own: read.own && flushed(read.own) }
}

/** Has `/metrics` show the figures of the trail and the registry. */
function addFigures({ store, metrics, trail, registry }: ServedParts): void {
  addTrailMetrics(metrics.registry, {
    intake: () => trail.intake.metrics,
    decisions: () => trail.decisions.metrics,
    unindexed: () => store.lookups.audit.unindexed(),
    reconciliations: registry.status,
  })
}

function warnOfRisks(config: Config, addresses: readonly ServedAddress[], logger: Logger): void {
  warnWhenOpen(config, addresses, logger)
  warnOfFewFiles(logger)
}

function warnWhenOpen({ auth, server }: Config, addresses: readonly ServedAddress[], logger: Logger): void {
  if (auth.tokens.length + auth.certificates.length > 0) return
  const open = addresses.find(({ address, serves }) => serves === 'all' && !isLocalAddress(address))
  if (open === undefined) return
  logger.warn(
    { addr: open.text },
    server.allowedHosts.length > 0
      ? 'listening beyond loopback without tokens: whoever reaches the port may do everything'
      : 'listening beyond loopback without tokens: whoever reaches the port may do everything; pages in browsers too, unless server.allowedHosts lists the names of the service',
  )
}

/** Says so where the process may have too few files open. */
export function warnOfFewFiles(logger: Logger, limit = openFilesLimit()): void {
  if (limit >= MIN_FILES) return
  logger.warn(
    { limit },
    `this process may have ${limit} files open at once, too few to answer whatever comes: allow ${MIN_FILES} at least, and one more for each connection (ulimit -n, LimitNOFILE)`,
  )
}
