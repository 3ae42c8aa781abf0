import type { DecisionLog } from '../../decisions/decision-log.js'
import type { Registry } from 'prom-client'

import type { Config } from '../../config/config.js'
import { AppError } from '../../errors/app-error.js'
import { decidingRoutes } from '../../http/direct-routes.js'
import { makeCostMetrics, makeEvaluationMetrics } from '../../http/metrics/evaluation-metrics.js'
import { makeCheckRevocation } from '../../http/transport/tls/revocation-lists.js'
import { makeAuthenticate } from '../../http/pipeline/authenticate.js'
import { guardRoutes } from '../../http/pipeline/guarded-routes.js'
import { makeFindDirectRoute } from '../../http/pipeline/find-direct-route.js'
import { RequestLog } from '../../http/pipeline/request-log.js'
import { addDecisionLogMetrics, makeServiceMetrics } from '../../http/metrics/service-metrics.js'
import type { ServiceMetrics } from '../../http/metrics/service-metrics.js'
import { failOpenRoute } from '../../http/routes/about/health.js'
import { makeRelay } from '../../http/relay/relay-request.js'
import type { TlsSettings } from '../../http/transport/tls/tls-settings.js'
import { makeLogger } from '../../lib/logger.js'
import type { ProcessLink } from '../../lib/processes/process-link.js'
import { fromFailure } from '../../lib/threads/failure.js'
import { Evaluations, type PolicyRequests } from '../../rego/index.js'
import { Servers } from '../addresses/open-servers.js'
import type { Answering } from '../addresses/open-servers.js'
import { exitOnFatalError } from '../exit-on-fatal-error.js'
import { openServedRequests } from '../evaluations/open-requests.js'
import { logPrinted } from '../evaluations/printed-lines.js'
import { policyContext } from '../policy-context.js'
import { openYamlReader } from '../threads/yaml-thread.js'
import type { MainCalls, SentPolicies, WorkerCalls, WorkerSettings } from '../workers/worker-calls.js'
import { makeRemoteDecisionLog } from './remote-decision-log.js'
import { RemoteSlowEvaluations } from './remote-slow-evaluations.js'
import { WorkerPolicies } from './worker-policies.js'

interface Deciding {
  readonly policies: WorkerPolicies
  readonly listen: WorkerCalls['listen']
  readonly renewTls: (settings: TlsSettings) => void
  readonly stopServers: (drainMs: number) => Promise<void>
  readonly figures: WorkerCalls['figures']
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * What the main process asks of this one: to decide as it does, over the same address and with the same policies. Everything else is
 * relayed to the main process; decisions, and evaluations that take long, are handed to it.
 */
export function makeWorkerCalls(main: () => ProcessLink<MainCalls>): WorkerCalls {
  let deciding: Promise<Deciding> | undefined
  /** What is asked while it starts waits until it has: a reload may come then. */
  const started = async (): Promise<Deciding> => {
    if (deciding === undefined) throw new AppError('internal', 'the worker has not been started')
    return await deciding
  }
  return {
    start: async ({ settings, policies }) => {
      deciding = open(settings, policies, main())
      await deciding
    },
    listen: async (place, listener) => (await started()).listen(place, listener),
    renewTls: async (settings) => (await started()).renewTls(settings),
    load: async (policies) => (await started()).policies.load(policies),
    activate: async (id) => (await started()).policies.activate(id),
    figures: async () => (await started()).figures(),
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
  const policies = await WorkerPolicies.open(sent, config.policies.limits)
  const decisionLog = makeRemoteDecisionLog(config, processes, main)
  exitOnFatalError(logger, () => decisionLog.flush())
  const metrics = metricsOver(decisionLog)
  const requests = openServedRequests(config, metrics.registry)
  const evaluations = openEvaluations(config, policies, main, { registry: metrics.registry, requests })
  const yaml = openYamlReader()
  const context = policyContext(config, {
    policies,
    evaluations,
    decisionLog,
    readYaml: yaml.toJson,
    evaluated: metrics.evaluated,
  })
  const deciding = decidingRoutes(config.orchestrator).map((route) => route.bind(context))
  const routes = [...deciding, failOpenRoute.bind(undefined)]
  let tls = settings.tls
  const checkRevocation = makeCheckRevocation(() => tls)
  const find = makeFindDirectRoute(guardRoutes(routes, makeAuthenticate({ ...config.auth, checkRevocation })))
  const relay = makeRelay(relaySocket)
  const requestLog = new RequestLog(logger)
  const answering: Answering = {
    find,
    application: relay.answer,
    finished: (exchange) => {
      if (relay.hasAnswered(exchange)) return
      metrics.requested(exchange)
      requestLog.note(exchange)
    },
  }
  const servers = new Servers({ config, logger, processes, tls: () => tls })
  return {
    policies,
    listen: async (place, listener) => {
      const served = addresses[place]
      if (served !== undefined) await servers.start(served, answering, listener)
    },
    renewTls: (renewed) => {
      tls = renewed
      servers.renewTls(renewed)
    },
    stopServers: (drainMs) => servers.stop(drainMs),
    figures: () => metrics.registry.getMetricsAsJSON(),
    flush: () => decisionLog.flush(),
    close: async () => {
      requestLog.close()
      relay.close()
      await requests?.close()
      await decisionLog.close()
      await yaml.close()
    },
  }
}

function metricsOver(decisionLog: DecisionLog): ServiceMetrics {
  const metrics = makeServiceMetrics()
  addDecisionLogMetrics(metrics.registry, decisionLog)
  return metrics
}

/** What does not end within its slice is left to the slow threads of the main process, which also says where an error is. */
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
      fromFailure(await main.call('locate', { policies: idOf(snapshot), failure })),
  })
}
