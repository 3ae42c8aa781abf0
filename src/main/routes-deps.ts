import { randomUUID } from 'node:crypto'

import type { Config } from '../config/config.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { Logger } from '../lib/logger.js'
import type { OpenAnalysis } from './open-analysis.js'
import type { OpenEvaluations } from './evaluations/open-evaluations.js'
import type { Decisions } from './open-decisions.js'
import type { Comparisons } from './open-shadow.js'
import type { OpenEnforcement } from './open-enforcement.js'
import type { OpenGates } from './open-gates.js'
import type { OpenOutbox } from './open-outbox.js'
import type { OpenRegistry } from './open-registry.js'
import type { OpenTrail } from './open-trail.js'
import type { BackgroundWork } from './background-work.js'
import { runtimePolicies } from '../rego/index.js'
import type { OpaConfig } from '../distribution/opa-config/read-opa-config.js'
import type { SourceSet } from '../distribution/source-set.js'
import { verificationOf } from './open-policies.js'
import type { OpenPolicies } from './open-policies.js'
import type { ServiceStore } from '../store/ports/service-store.js'
import type { ServiceMetrics } from '../http/metrics/service-metrics.js'
import { shownConfig } from '../config/shown-config.js'
import { servedAddresses } from '../config/sections/served-addresses.js'
import { numberOfName } from '../gates/definitions/pipeline-numbers.js'
import { requiresCredentials } from '../config/sections/auth.js'
import type { SignOn } from './open-sign-on.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { Authenticate } from '../http/pipeline/authenticate.js'
import type { RoutesDeps } from '../http/route-lists.js'
import { BrowserAccess, randomToken } from '../http/sessions/browser-access.js'
import { HomeFeed } from '../http/routes/pages/home-feed.js'
import { MemorySessions } from '../http/sessions/memory-sessions.js'
import { makePassedTime } from '../lib/clocks/passed-time.js'
import { decisionsOfExecution } from '../decisions/query-decisions.js'
import type { RulesOf } from '../decisions/name-rules.js'
import type { DecisionQueryDeps } from '../decisions/query-decisions.js'
import type { PolicyContext } from '../http/policy/decision.js'
import { packageCosts } from '../http/metrics/package-costs.js'
import { addPolicyMetrics } from '../http/metrics/policy-metrics.js'
import { addTrailMetrics } from '../http/metrics/trail-metrics.js'
import { packageVersion } from '../lib/package-root.js'
import type { TimelineDeps } from '../audit/execution-timeline.js'
import type { HealthPlugin } from '../http/routes/about/health.js'
import { makePolicyTrials } from './evaluations/policy-trials.js'
import { storeHealth } from './store/open-store.js'
import { findServiceOpa } from './files/service-opa.js'
import { openExplanations, openRules } from './open-explanations.js'
import { policiesHealth, sourcesHealth } from './policies-health.js'
import { openFleet, opaStatus } from './open-fleet.js'
import type { OpenFleet } from './open-fleet.js'
import { openPublication } from './open-publication.js'
import type { OnStop } from './close-parts.js'
import { policyContext } from './policy-context.js'
import { partOnDemand } from '../lib/on-demand.js'
import type { ExplainDecision } from '../explain/explain-decision.js'
import type { OpenWorkers } from './open-workers.js'
import type { Reloads } from './reload/reloads.js'
import type { DecisionRoutesDeps } from '../http/routes/trail/decisions.js'
import type { BrowserSessions } from '../store/ports/browser-sessions.js'
import type { TlsFiles } from './files/tls-files.js'

/** All parts of the service, ready to serve. */
export interface ServedParts extends OpenPolicies, Comparisons {
  readonly config: Config
  readonly logger: Logger
  readonly store: ServiceStore
  readonly decisions: Decisions
  readonly opa: OpaConfig | undefined
  readonly reloads: Reloads
  readonly evaluations: OpenEvaluations
  readonly enforcing: OpenEnforcement
  readonly metrics: ServiceMetrics
  readonly outbox: OpenOutbox
  readonly gates: OpenGates
  readonly trail: OpenTrail
  readonly registry: OpenRegistry
  readonly analysis: OpenAnalysis
  readonly backgroundWork: BackgroundWork
  readonly threadDied: (death: ThreadDeath) => void
  readonly signOn: SignOn
  readonly telemetry: Telemetry | undefined
}

/** Name of the secret of forms, shared by all services where no one signs in. */
const FORM_TOKEN = 'form-token'

/** What outlives a reload of the configuration. */
export interface Lasting {
  readonly sessions: BrowserSessions
  readonly formToken: string
  readonly homeFeed: HomeFeed
  readonly instanceId: string
  readonly bundles: RoutesDeps['bundles']
  readonly fleet: OpenFleet
  readonly decisions: DecisionRoutesDeps
  readonly explain: ExplainDecision
  readonly trials: RoutesDeps['pages']['trials']
  readonly costs: RoutesDeps['pages']['costs']
}

/** What `openLasting` needs of `listen`. */
interface LastingParts {
  readonly workers: OpenWorkers
  readonly tls: TlsFiles | undefined
  readonly onStop: OnStop
}

/** Opens what outlives a reload. With a shared store, sessions are valid at all its services. */
export async function openLasting(parts: ServedParts, opened: LastingParts): Promise<Lasting> {
  const { store, reloads, policies, revisions, decisions } = parts
  const log = includingWorkers(decisions, opened.workers, openRules(revisions))
  const instanceId = parts.config.store.replica ?? randomUUID()
  const { explain, explainTrial } = openExplanations(reloads, revisions)
  return {
    sessions: store.sharing?.sessions ?? new MemorySessions(makePassedTime()),
    formToken: (await store.sharing?.secret(FORM_TOKEN, randomToken)) ?? randomToken(),
    homeFeed: new HomeFeed(),
    instanceId,
    fleet: openReports(parts, instanceId, opened),
    bundles: { bundle: openPublication(reloads.config, policies) },
    ...{ explain, decisions: log && { ...log, explain } },
    trials: makePolicyTrials(reloads.config, policies, {
      explainTrial,
      verification: verificationOf({ config: reloads.config, opa: parts.opa }),
    }),
    costs: async () => packageCosts(await opened.workers.metrics.values()),
  }
}

/** Opens browser sessions. */
export function openBrowserAccess(
  { config: { auth, server }, signOn }: ServedParts,
  authenticate: Authenticate,
  { sessions, formToken }: Lasting,
): BrowserAccess {
  const isSecure =
    server.publicUrl?.toLowerCase().startsWith('https:') ?? servedAddresses(server)[0]?.isTls === true
  return new BrowserAccess({
    tokens: auth.tokens,
    requiresCredentials: requiresCredentials(auth),
    isKnownOtherwise: (exchange) =>
      (auth.certificates.length > 0 && exchange.clientCertificate !== undefined) ||
      signOn.isProxied(exchange),
    isSecure,
    authenticate,
    sessions,
    provider: signOn.access(sessions),
    formToken,
  })
}

/** The dependencies of the pages. */
function pageRoutes(
  { config, store, gates, analysis, trail, outbox, backgroundWork, ...parts }: ServedParts,
  shown: Pick<RoutesDeps, 'fleet' | 'policy' | 'timeline' | 'decisions'> &
    Pick<RoutesDeps['pages'], 'browsers' | 'homeFeed' | 'health' | 'version' | 'trials' | 'costs'>,
): RoutesDeps['pages'] {
  const [{ server }, { impact, policies, stage, control }] = [config, parts]
  const prefix = server.publicUrl === undefined ? '' : new URL(server.publicUrl).pathname.replace(/\/+$/, '')
  return {
    ...{ ...shown, impact, policies, stage, control },
    ...{ gates: gates.routes(config), analysis: analysis.routes(config) },
    ...{ audit: trail.routes, outbox: outbox.routes, backgroundWork: backgroundWork.routes },
    registry: { reader: store.reader, lookups: store.lookups.registry },
    config: () => shownConfig(config),
    page: { frameAncestors: server.frameAncestors, prefix },
  }
}

/** The dependencies of the routes that change policies. */
function writingRoutes({ config, policies, store }: ServedParts): RoutesDeps['stored'] {
  return {
    ...{ policies, writer: store.writer, now: store.now, maxBodyBytes: config.server.maxBodyBytes },
    isWritable: config.policies.writable,
    findOpa: () => findServiceOpa(config),
  }
}

/** The groups that the configuration names, for the choices of forms. */
function groupsNamedIn({ tokens, certificates, oidc, proxy }: Config['auth']): readonly string[] {
  const listed = [...tokens, ...certificates].flatMap(({ groups }) => groups)
  const elsewhere = [oidc, proxy].flatMap((accounts) => Object.values(accounts?.roles ?? {}).flat())
  return [...new Set([...listed, ...elsewhere])].filter((group) => group !== '*').sort()
}

/** The dependencies of the forms of stages. */
function formRoutes({ config, store, policies, registry }: ServedParts): RoutesDeps['forms'] {
  const { auth, connectors, policies: settings } = config
  const { reader, writer, now } = store
  return {
    ...{ reader, writer, now, maxBodyBytes: config.server.maxBodyBytes, numbers: registry.numbers },
    accounts: connectors.accounts,
    groups: groupsNamedIn(auth),
    environments: config.gates.environments,
    makesGates: config.gates.fromStages,
    runtimePolicies: () =>
      runtimePolicies(policies.current, settings).map((path) => ({ path, id: numberOfName(path) })),
  }
}

/** Builds the description of the API at its first request. */
function describeOnce({ orchestrator, server }: Config): () => Promise<string> {
  return partOnDemand(async () => {
    const { describeApi } = await import('../http/web-application.js')
    const { openApiOptions } = await import('../http/openapi/openapi-document.js')
    return describeApi(orchestrator, openApiOptions(packageVersion(), server))
  })
}

/** Parts that `listen` opens itself. */
interface OpenedHere {
  readonly browsers: BrowserAccess
  readonly lasting: Lasting
  readonly workers: OpenWorkers
  readonly tls: TlsFiles | undefined
}

/** Discovery may name sources later. */
function sourcesPlugins(set: SourceSet, { policies }: Config): HealthPlugin[] {
  const { discovery } = set
  const bundles = sourcesHealth('bundle', () => set.sources)
  if (discovery !== undefined) return [bundles, sourcesHealth('discovery', () => [discovery])]
  return set.sources.length + policies.sources.length === 0 ? [] : [bundles]
}

function healthPlugins(
  parts: ServedParts,
  workers: OpenWorkers,
  tls: TlsFiles | undefined,
): readonly HealthPlugin[] {
  const { config, decisions, policies, stage, enforcing, sources, registry, store, backgroundWork } = parts
  return [
    decisions.health,
    policiesHealth(policies, stage.problem),
    ...enforcing.health,
    ...sourcesPlugins(sources, config),
    registry.health,
    storeHealth(store),
    backgroundWork.health,
    workers.health,
    parts.analysis.health,
    ...(tls === undefined ? [] : [tls.health]),
  ]
}

/** The dependencies of the routes of each feature. */
export function routesDeps(
  parts: ServedParts,
  { browsers, lasting, workers, tls }: OpenedHere,
  readYaml: PolicyContext['readYaml'],
): RoutesDeps {
  const { config, store, decisions, policies, metrics, outbox, gates, trail, registry } = parts
  const { backgroundWork, analysis, evaluations, enforcing, sources } = parts
  const { reader, writer, lookups } = store
  const { decisions: read, explain, homeFeed, trials, costs } = lasting
  const { maxBodyBytes } = config.audit
  const timeline: TimelineDeps = {
    reader,
    decisionsOf: read && ((executionId, limit) => decisionsOfExecution(read, executionId, limit)),
  }
  const plugins = healthPlugins(parts, workers, tls)
  const policy = policyContext(config, {
    explain,
    policies,
    evaluations: evaluations.evaluations,
    enforcement: enforcing.enforcement,
    decisionLog: decisions.log,
    readYaml,
    evaluated: metrics.evaluated,
    warned: metrics.warned,
    inSpan: parts.telemetry?.tracing?.inSpan,
  })
  return {
    policy,
    playground: { trials, maxBodyBytes: config.server.maxBodyBytes },
    about: {
      ...{ metrics: workers.metrics, openApi: describeOnce(config), config: () => shownConfig(config) },
      reload: (caller) => parts.reloads.reload(caller),
    },
    health: { policies, plugins },
    ...{ stored: writingRoutes(parts), decisions: read },
    impact: { runs: parts.impact, shadow: parts.shadow, maxBodyBytes: config.server.maxBodyBytes },
    gates: gates.routes(config),
    forms: formRoutes(parts),
    events: { intake: trail.intake, maxBodyBytes },
    audit: trail.routes,
    pages: pageRoutes(parts, {
      ...{ browsers, homeFeed, timeline, decisions: read, health: plugins, version: packageVersion() },
      ...{ policy, trials, costs, fleet: lasting.fleet.routes },
    }),
    timeline,
    registry: { reader, lookups: lookups.registry },
    insights: { reader, now: store.now, policies, decisions: read },
    webhooks: { settings: registry.settings, writer, now: store.now, wakeOutbox: outbox.wake, maxBodyBytes },
    outbox: outbox.routes,
    notifications: outbox.notifications,
    backgroundWork: backgroundWork.routes,
    analysis: analysis.routes(config),
    policySources: { policies, sources },
    revisions: { ...parts, now: store.now, maxBodyBytes: config.server.maxBodyBytes },
    ...{ bundles: lasting.bundles, fleet: lasting.fleet.routes },
    exceptions: enforcing.routes,
    opaStatus: { ...opaStatus(parts, lasting), plugins },
    packages: { ...enforcing.packages, trials, costs, decisions: read },
  }
}

/** Opens the fleet that this instance belongs to, and reports to it. */
function openReports(
  parts: ServedParts,
  instanceId: string,
  { workers, tls, onStop }: LastingParts,
): OpenFleet {
  const { config, logger, store, decisions, opa } = parts
  const status = { ...opaStatus(parts, { instanceId }), plugins: healthPlugins(parts, workers, tls) }
  const decided = decisions.read?.own ?? decisions.read
  const fleet = openFleet({
    ...{ config, logger, store, status, opaStatus: opa?.status, decisions: decided?.store },
  })
  onStop('reports to the fleet', fleet.start())
  return fleet
}

/** A view of the decision log that includes the latest decisions of worker processes. */
function includingWorkers({ read }: Decisions, workers: OpenWorkers, rulesOf: RulesOf): Decisions['read'] {
  const flushed = ({ store, log }: DecisionQueryDeps): DecisionQueryDeps => ({
    store,
    rulesOf,
    log: {
      flush: async () => {
        await workers.flush()
        await log.flush()
      },
    },
  })
  return read && { ...flushed(read), own: read.own && flushed(read.own) }
}

/** Adds the metrics of the policies, the trail and the registry to `/metrics`. */
export function addMetrics(parts: ServedParts): void {
  const { store, metrics, trail, registry, policies, sources } = parts
  addPolicyMetrics(metrics.registry, { version: packageVersion(), policies, sources })
  addTrailMetrics(metrics.registry, {
    intake: () => trail.intake.metrics,
    decisions: () => trail.decisions.metrics,
    unindexed: () => store.lookups.audit.unindexed(),
    reconciliations: registry.status,
  })
}
