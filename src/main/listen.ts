import type { Config } from '../config/config.js'
import { requiresCredentials } from '../config/sections/auth.js'
import { isLocalAddress } from '../config/sections/listen-address.js'
import type { ServedAddress } from '../config/sections/served-addresses.js'
import { directLists, isProbed, routesForProbes } from '../http/direct-routes.js'
import { makeCheckRevocation } from '../http/transport/tls/revocation-lists.js'
import { makeAuthenticate } from '../http/pipeline/authenticate.js'
import { RequestLog } from '../http/pipeline/request-log.js'
import type { Exchange } from '../http/exchange/exchange.js'
import { makeRequestHandler } from '../http/transport/handle-request.js'
import { MIN_FILES } from '../http/server.js'
import { guardRoutes } from '../http/pipeline/guarded-routes.js'
import { makeFindDirectRoute } from '../http/pipeline/find-direct-route.js'
import type { FindDirectRoute } from '../http/pipeline/find-direct-route.js'
import { makeAuthorize } from '../http/authorization/authorize.js'
import type { PolicyContext } from '../http/policy/decision.js'
import type { WebApplicationParts, WebApplications } from '../http/web-application.js'
import type { Logger } from '../lib/logger.js'
import { partOnDemand } from '../lib/on-demand.js'
import { openFilesLimit } from '../lib/processes/system-limits.js'
import { addMetrics, openBrowserAccess, openLasting, routesDeps } from './routes-deps.js'
import type { Lasting, ServedParts } from './routes-deps.js'
import { openSignOn } from './open-sign-on.js'
import { Servers } from './open-servers.js'
import type { Answering } from './open-servers.js'
import { openWorkers, processesOf } from './open-workers.js'
import type { OpenWorkers, SharedListener } from './open-workers.js'
import type { TlsFiles } from './files/tls-files.js'
import { traceUnless } from './open-telemetry.js'
import { openYamlReader } from './threads/yaml-thread.js'
import type { OnStop } from './close-parts.js'

const MS_PER_SECOND = 1000

/** Starts an HTTP server for each address. Returns their URLs. */
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
  const lasting = await openLasting(parts, { workers, tls, onStop })
  addMetrics(parts)
  const uploadLast = parts.telemetry?.exportMetrics(workers.metrics.values)
  // Metrics read the store, which closes later.
  if (uploadLast !== undefined) onStop('metrics for the collector', uploadLast)
  const requestLog = new RequestLog(logger)
  onStop('request log', () => requestLog.close())
  const finished = (exchange: Exchange): void => {
    parts.metrics.requested(exchange)
    requestLog.note(exchange)
  }
  const opened = { lasting, workers, tls, readYaml: yaml.toJson }
  let answers = makeAnswers(parts, opened)
  const everything: Answering = {
    find: (method, path) => answers.find(method, path),
    application: async (exchange) => (await answers.web()).everything(exchange),
    trace: traceUnless(parts.telemetry, ({ target }) => isProbed(target.path)),
    finished,
  }
  const probes: Answering = {
    find: (method, path) => answers.findProbe(method, path),
    application: async (exchange) => (await answers.web()).probes(exchange),
    finished,
  }
  warnOfRisks(config, addresses, logger)
  const servers = new Servers({ config, logger, processes: processesOf(config), tls: () => tls?.settings })
  const follow = (made: Answers, next: Config): void => {
    answers = made
    servers.follow(next)
  }
  followConfiguration(parts, opened, { follow, onStop })
  onStop('server', async () => {
    beginStop(parts, lasting)
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
  // The worker process has already admitted relayed requests.
  const handle = makeRequestHandler({ ...everything, admit: () => undefined })
  await workers.serve(shared, { handle, limits: servers.limits }, () => tls?.settings)
  return servers.urls
}

interface Following {
  /** Switches the servers of this process. */
  readonly follow: (answers: Answers, config: Config) => void
  readonly onStop: OnStop
}

/** Applies changes of the configuration to the servers of all processes. */
function followConfiguration(parts: ServedParts, opened: AnswersParts, { follow, onStop }: Following): void {
  const { reloads, logger, store } = parts
  // The idle connections of former ones close by themselves.
  let current = parts.signOn
  onStop('sign-on', () => current.close())
  reloads.add(async ({ config, opa, readSecret }) => {
    const files = opened.tls?.prepare(config)
    const signOn = await openSignOn(config, { logger, readSecret, now: store.now })
    const made = makeAnswers({ ...parts, config, opa, signOn }, opened)
    return {
      commit: () => {
        follow(made, config)
        current = signOn
        files?.commit()
      },
    }
  })
  reloads.steps.spread = (config) => opened.workers.follow(config)
}

/** Ends or refuses what would hold up the end of the servers. */
function beginStop({ evaluations, store }: ServedParts, { homeFeed, bundles }: Lasting): void {
  homeFeed.close()
  bundles.bundle?.close()
  evaluations.drain()
  store.closing?.()
}

/** The routes with one configuration. */
interface Answers {
  readonly find: FindDirectRoute
  readonly findProbe: FindDirectRoute
  readonly web: () => Promise<WebApplications>
}

interface AnswersParts {
  readonly lasting: Lasting
  readonly workers: OpenWorkers
  readonly tls: TlsFiles | undefined
  readonly readYaml: PolicyContext['readYaml']
}

function makeAnswers(parts: ServedParts, { lasting, workers, tls, readYaml }: AnswersParts): Answers {
  const { config, signOn } = parts
  const authenticate = makeAuthenticate({
    ...config.auth,
    checkRevocation: makeCheckRevocation(() => tls?.settings),
    findPerson: signOn.findPerson,
  })
  const browsers = openBrowserAccess(parts, authenticate, lasting)
  const deps = routesDeps(parts, { browsers, lasting, workers, tls }, readYaml)
  const authorize = makeAuthorize(deps.policy)
  const access = { requests: authenticate, pages: browsers.authenticate, authorize }
  const direct = Object.values(directLists(config.orchestrator)).flatMap(({ bind }) => bind(deps))
  return {
    find: makeFindDirectRoute(guardRoutes(direct, { requests: authenticate, authorize })),
    findProbe: makeFindDirectRoute(routesForProbes(guardRoutes(direct, { requests: authenticate }))),
    web: openWeb({ deps, access, options: config.orchestrator }),
  }
}

/** Loads the web application on demand. It is large, and most services only answer decisions. */
function openWeb(parts: WebApplicationParts): () => Promise<WebApplications> {
  return partOnDemand(async () => {
    const { makeWebApplications } = await import('../http/web-application.js')
    return makeWebApplications(parts)
  })
}

function warnOfRisks(config: Config, addresses: readonly ServedAddress[], logger: Logger): void {
  warnWhenOpen(config, addresses, logger)
  warnOfFewFiles(logger)
}

function warnWhenOpen({ auth, server }: Config, addresses: readonly ServedAddress[], logger: Logger): void {
  if (requiresCredentials(auth)) return
  const open = addresses.find(({ address, serves }) => serves === 'all' && !isLocalAddress(address))
  if (open === undefined) return
  logger.warn(
    { addr: open.text },
    server.allowedHosts.length > 0
      ? 'listening beyond loopback without tokens: anyone who reaches the port may do everything'
      : 'listening beyond loopback without tokens: anyone who reaches the port may do everything, and so may web pages in browsers unless server.allowedHosts lists the names of the service',
  )
}

/** Logs a warning if the process may open too few files. */
export function warnOfFewFiles(logger: Logger, limit = openFilesLimit()): void {
  if (limit >= MIN_FILES) return
  logger.warn(
    { limit },
    `this process may have only ${limit} files open: allow at least ${MIN_FILES}, plus one per connection (ulimit -n, LimitNOFILE)`,
  )
}

/**
 * Reads the certificate of the service. Undefined if none is configured. Throws `invalid` for
 * unusable files.
 */
async function openTls(config: Config, logger: Logger): Promise<TlsFiles | undefined> {
  if (config.server.tlsCertificate === undefined) return undefined
  const { TlsFiles: Files } = await import('./files/tls-files.js')
  return Files.open(config, logger)
}
