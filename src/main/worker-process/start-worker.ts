import { closeParts } from '../close-parts.js'
import type { OnStop, OpenPart } from '../close-parts.js'
import { makeAuthorize } from '../../http/authorization/authorize.js'
import type { PolicyContext } from '../../http/policy/decision.js'
import type { ExplainDecision } from '../../explain/explain-decision.js'
import type { BoundRoute } from '../../http/pipeline/route.js'
import { nopDecisionLog } from '../../decisions/decision-log.js'
import type { DecisionLog } from '../../decisions/decision-log.js'
import type { Registry } from 'prom-client'
import { readSecrets } from '../../config/read-secrets.js'
import type { Config } from '../../config/config.js'
import { Enforcement, MAX_ADVICE_MS } from '../../enforcement/enforcement.js'
import { ExceptionBook } from '../../enforcement/exceptions/exception-book.js'
import { AppError } from '../../errors/app-error.js'
import { decidingRoutes } from '../../http/direct-routes.js'
import { makeCostMetrics, makeEvaluationMetrics } from '../../http/metrics/evaluation-metrics.js'
import { makeCheckRevocation } from '../../http/transport/tls/revocation-lists.js'
import { openSignOn } from '../open-sign-on.js'
import type { SignOn } from '../open-sign-on.js'
import { makeAuthenticate } from '../../http/pipeline/authenticate.js'
import { guardRoutes } from '../../http/pipeline/guarded-routes.js'
import { makeFindDirectRoute } from '../../http/pipeline/find-direct-route.js'
import type { FindDirectRoute } from '../../http/pipeline/find-direct-route.js'
import { RequestLog } from '../../http/pipeline/request-log.js'
import { addDecisionLogMetrics, makeServiceMetrics } from '../../http/metrics/service-metrics.js'
import type { ServiceMetrics } from '../../http/metrics/service-metrics.js'
import { failOpenRoute } from '../../http/routes/about/health.js'
import { makeRelay } from '../../http/relay/relay-request.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import { makeLogger } from '../../lib/logger.js'
import type { Logger } from '../../lib/logger.js'
import type { CheckRevocation } from '../../http/exchange/client-certificate.js'
import type { ProcessLink } from '../../lib/processes/process-link.js'
import { fromFailure } from '../../lib/threads/failure.js'
import { Evaluations, type PolicyRequests, type EvaluationsOptions, type Snapshot } from '../../rego/index.js'
import { Servers } from '../open-servers.js'
import type { Answering } from '../open-servers.js'
import { partOnDemand } from '../../lib/on-demand.js'
import { exitOnFatalError } from '../process-events.js'
import { openTelemetry, traceUnless } from '../open-telemetry.js'
import type { Telemetry } from '../../telemetry/telemetry.js'
import { openServedRequests } from '../evaluations/open-requests.js'
import { logPrinted } from '../evaluations/open-evaluations.js'
import { policyContext } from '../policy-context.js'
import { openYamlReader } from '../threads/yaml-thread.js'
import type { MainCalls, SentPolicies, WorkerCalls, WorkerSettings } from '../worker-pool/worker-calls.js'
import { WorkerPolicies } from './worker-policies.js'
import { BufferedDecisionLog } from '../../decisions/buffered-decision-log.js'
import { usedPart } from '../../decisions/decision-batch.js'

interface Deciding {
  readonly policies: WorkerPolicies
  readonly except: ExceptionBook['replace']
  readonly listen: WorkerCalls['listen']
  readonly follow: (config: Config) => Promise<void>
  readonly renewTls: (settings: TlsSettings) => void
  readonly stopServers: (drainMs: number) => Promise<void>
  readonly metrics: WorkerCalls['metrics']
  readonly flush: () => Promise<void>
  readonly close: () => Promise<unknown>
}

/**
 * The calls that the main process makes to this worker process. It decides with the same policies
 * at the same addresses. It relays other requests to the main process and hands it decisions and
 * slow evaluations.
 */
export function makeWorkerCalls(main: () => ProcessLink<MainCalls>): WorkerCalls {
  let deciding: Promise<Deciding> | undefined
  /** Calls wait for the end of the start, because a reload may arrive before. */
  const started = async (): Promise<Deciding> => {
    if (deciding === undefined) throw new AppError('internal', 'the worker process has not been started')
    return await deciding
  }
  return {
    start: async ({ settings, policies }) => {
      deciding = open(settings, policies, main())
      await deciding
    },
    listen: async (index, listener) => (await started()).listen(index, listener),
    renewTls: async (settings) => (await started()).renewTls(settings),
    follow: async (config) => (await started()).follow(config),
    load: async (policies) => (await started()).policies.load(policies),
    activate: async (id) => (await started()).policies.activate(id),
    stage: async (staged) => (await started()).policies.stage(staged),
    except: async (all) => (await started()).except(all),
    metrics: async () => (await started()).metrics(),
    flush: async () => (await started()).flush(),
    stop: async (drainMs) => {
      await (await deciding)?.stopServers(drainMs)
      await (await deciding)?.close()
    },
  }
}

async function open(
  settings: WorkerSettings,
  sent: SentPolicies,
  main: ProcessLink<MainCalls>,
): Promise<Deciding> {
  const { config, addresses, relaySocket, processes } = settings
  const logger = makeLogger(config.log)
  const opened: OpenPart[] = []
  const onStop: OnStop = (name, close) => opened.push({ name, close })
  const policies = await WorkerPolicies.open(sent, config.policies.limits)
  const yaml = openYamlReader()
  onStop('reader of YAML', yaml.close)
  const decisionLog = makeRemoteDecisionLog(config, processes, main)
  onStop('decision log', () => decisionLog.close())
  exitOnFatalError(logger, () => decisionLog.flush())
  const readSecret = readSecrets({ telemetry: config.telemetry }, process.env)
  const telemetry = await openTelemetry(config, { logger, onStop, readSecret })
  const metrics = metricsOver(decisionLog)
  const requests = openServedRequests(config, metrics.registry)
  onStop('requests of policies', async () => requests?.close())
  const evaluations = openEvaluations(config, policies, main, { registry: metrics.registry, requests })
  const book = new ExceptionBook()
  let tls = settings.tls
  const following = { config }
  const checkRevocation = makeCheckRevocation(() => tls)
  const parts = {
    ...{ book, checkRevocation, logger, policies, evaluations, decisionLog, metrics },
    ...{ readYaml: yaml.toJson, inSpan: telemetry?.tracing?.inSpan, explain: explainOnDemand(following) },
  }
  let current = await openRoutes(config, parts)
  onStop('sign-on', () => current.close())
  const relay = makeRelay(relaySocket)
  onStop('relay', () => relay.close())
  const requestLog = new RequestLog(logger)
  onStop('request log', () => requestLog.close())
  const find: FindDirectRoute = (method, path) => current.find(method, path)
  const answering = answeringOver({ find, relay, metrics, requestLog, telemetry })
  const servers = new Servers({ config, logger, processes, tls: () => tls })
  return {
    policies,
    except: (all) => book.replace(all),
    follow: async (next) => {
      current = await openRoutes(next, parts)
      following.config = next
      servers.follow(next)
    },
    listen: async (index, listener) => {
      const served = addresses[index]
      if (served !== undefined) await servers.start(served, answering, listener)
    },
    renewTls: (renewed) => {
      tls = renewed
      servers.renewTls(renewed)
    },
    stopServers: (drainMs) => servers.stop(drainMs),
    metrics: () => metrics.registry.getMetricsAsJSON(),
    flush: () => decisionLog.flush(),
    close: () => closeParts(opened, logger),
  }
}

/** Loaded by the first explanation, because few requests are explained. */
function explainOnDemand(following: { readonly config: Config }): ExplainDecision {
  const load = partOnDemand(async () => {
    const { openExplanations, openRevisions } = await import('../open-explanations.js')
    return openExplanations(following, openRevisions(following.config)).explain
  })
  return async (decision, options) => (await load())(decision, options)
}

type PolicyContextParts = Parameters<typeof policyContext>[1]

interface RoutesParts extends Omit<PolicyContextParts, 'enforcement' | 'evaluated' | 'warned'> {
  readonly metrics: ServiceMetrics
  readonly book: ExceptionBook
  readonly checkRevocation: CheckRevocation
  readonly logger: Logger
}

interface OpenRoutes extends Pick<SignOn, 'close'> {
  readonly find: FindDirectRoute
}

/** Opens the routes with a configuration. */
async function openRoutes(
  config: Config,
  { book, checkRevocation, logger, metrics, ...parts }: RoutesParts,
): Promise<OpenRoutes> {
  const enforcement = new Enforcement({
    levels: config.policies.levels,
    exceptions: book,
    maxAdviceMs: MAX_ADVICE_MS,
  })
  const { evaluated, warned } = metrics
  const context = policyContext(config, { ...parts, enforcement, evaluated, warned })
  const { findPerson, close } = await openSignOn(config, { logger, now: Date.now })
  const authenticate = makeAuthenticate({ ...config.auth, checkRevocation, findPerson })
  const access = { requests: authenticate, authorize: makeAuthorize(context) }
  return { find: makeFindDirectRoute(guardRoutes(routesOver(config, context), access)), close }
}

interface AnsweringParts {
  readonly find: Answering['find']
  readonly relay: ReturnType<typeof makeRelay>
  readonly metrics: ServiceMetrics
  readonly requestLog: RequestLog
  readonly telemetry: Telemetry | undefined
}

/** Requests that are relayed are counted, traced and logged by the main process. */
function answeringOver({ find, relay, metrics, requestLog, telemetry }: AnsweringParts): Answering {
  return {
    find,
    application: relay.answer,
    trace: traceUnless(telemetry, ({ method, target }) => find?.(method, target.path) === undefined),
    finished: (exchange) => {
      if (relay.hasAnswered(exchange)) return
      metrics.requested(exchange)
      requestLog.note(exchange)
    },
  }
}

function routesOver({ orchestrator }: Config, context: PolicyContext): readonly BoundRoute[] {
  const deciding = decidingRoutes(orchestrator).map((route) => route.bind(context))
  return [...deciding, failOpenRoute.bind(undefined)]
}

function metricsOver(decisionLog: DecisionLog): ServiceMetrics {
  const metrics = makeServiceMetrics()
  addDecisionLogMetrics(metrics.registry, decisionLog)
  return metrics
}

/**
 * Evaluations that exceed their slice go to the slow threads of the main process, which also
 * locates errors in the sources.
 */
function openEvaluations(
  config: Config,
  { idOf }: WorkerPolicies,
  main: ProcessLink<MainCalls>,
  { registry, requests }: { readonly registry: Registry; readonly requests: PolicyRequests | undefined },
): Evaluations {
  const { limits, slowEvaluations, strictBuiltinErrors } = config.policies
  return new Evaluations({
    slow: new RemoteSlowEvaluations(main, slowEvaluations.threads, idOf),
    sliceMs: limits.sliceMs,
    strictBuiltinErrors,
    abandoned: makeEvaluationMetrics(registry, { queued: () => 0, running: () => 0 }).abandoned,
    spent: makeCostMetrics(registry),
    ...(requests && { requests }),
    printed: logPrinted(config, makeLogger(config.log)),
    locate: async (failure, snapshot) =>
      fromFailure(await main.call('locateFailure', { policies: idOf(snapshot), failure })),
  })
}

/**
 * The decision log of a worker process. It sends batches to the main process, the only writer. Its
 * buffer limits are its share of those of the service.
 */
function makeRemoteDecisionLog(
  { decisions, audit }: Config,
  processes: number,
  main: ProcessLink<MainCalls>,
): DecisionLog {
  if (!decisions.enabled) return nopDecisionLog
  const { mask, maxInputBytes, maxResultBytes, bufferBytes, bufferRows, givesWay, flushIntervalMs } =
    decisions
  return new BufferedDecisionLog({
    writer: {
      write: async (batch) => {
        const receipt = await main.call('writeDecisions', usedPart(batch))
        return { ...receipt, spentMemory: batch.bytes }
      },
      close: () => Promise.resolve(),
    },
    bounds: {
      maxInputBytes,
      maxResultBytes,
      maxBufferedBytes: Math.ceil(bufferBytes / processes),
      maxBufferedRows: Math.ceil(bufferRows / processes),
      givesWay,
      flushIntervalMs,
    },
    masked: mask.length > 0,
    reports:
      audit.decisions === 'none'
        ? undefined
        : {
            reported: audit.decisions,
            take: (report) => void main.call('reportDecisions', report).catch(() => undefined),
          },
  })
}

/** Sends slow evaluations to the main process, which has one queue for all processes. */
class RemoteSlowEvaluations {
  readonly #main: ProcessLink<MainCalls>
  readonly #threads: number
  readonly #idOf: (snapshot: Snapshot) => number
  #lastId = 0
  #running = 0

  /** `threads` is their number. `idOf` returns the main process's number of a snapshot. */
  constructor(main: ProcessLink<MainCalls>, threads: number, idOf: (snapshot: Snapshot) => number) {
    this.#main = main
    this.#threads = threads
    this.#idOf = idOf
  }

  /** As far as this process knows. Other processes may use the threads. */
  get isFree(): boolean {
    return this.#running < this.#threads
  }

  readonly submit: EvaluationsOptions['slow']['submit'] = ({ key, snapshot, request }) => {
    const id = (this.#lastId += 1)
    this.#running += 1
    const answer = this.#main
      .call('evaluate', { id, policies: this.#idOf(snapshot), key, request })
      .finally(() => (this.#running -= 1))
    const drop = (): void => void this.#main.call('drop', id).catch(() => undefined)
    return { answer, drop }
  }
}
