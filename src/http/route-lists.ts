import { directLists, listOf } from './direct-routes.js'
import type { BindableRoutes, DirectDeps, RouteOptions } from './direct-routes.js'
import type { Route } from './pipeline/route.js'
import { accountPageRoutes } from './routes/pages/account.js'
import { approvalPageRoutes } from './routes/pages/approvals.js'
import type { PageRoutesDeps } from './routes/pages/page-route.js'
import { analysisPageRoutes } from './routes/pages/analyses.js'
import { definitionPageRoutes } from './routes/pages/definitions.js'
import { estatePageRoutes } from './routes/pages/estate.js'
import { operationPageRoutes } from './routes/pages/operations.js'
import { trailPageRoutes } from './routes/pages/trail.js'
import { playgroundPageRoutes } from './routes/pages/playground.js'
import { playgroundRoutes } from './routes/policies/playground.js'
import type { PlaygroundRoutesDeps } from './routes/policies/playground.js'
import { decisionPageRoutes } from './routes/pages/decisions.js'
import { executionPageRoutes } from './routes/pages/executions.js'
import { fleetPageRoutes } from './routes/pages/fleet.js'
import { homeRoutes } from './routes/pages/home.js'
import { policyPageRoutes } from './routes/pages/policies.js'
import { runPageRoutes } from './routes/pages/runs.js'
import { templatePageRoutes } from './routes/pages/templates.js'
import { storedDataRoutes } from './routes/policies/data.js'
import { storedPolicyRoutes } from './routes/policies/policies.js'
import type { WritingRoutesDeps } from './routes/policies/writing.js'
import { sessionRoutes } from './routes/pages/sessions.js'
import { signInRoutes } from './routes/pages/sign-in.js'
import { aboutRoutes } from './routes/about/about.js'
import type { AboutRoutesDeps } from './routes/about/about.js'
import { analysisRoutes } from './routes/analysis/analysis.js'
import type { AnalysisRoutesDeps } from './routes/analysis/analysis-deps.js'
import { autopilotRoutes } from './routes/analysis/autopilot.js'
import { applicationFormRoutes } from './routes/forms/application-forms.js'
import { choiceFormRoutes, connectorFormRoutes } from './routes/forms/choice-forms.js'
import type { FormRoutesDeps } from './routes/forms/form-routes-deps.js'
import { stageGateRoutes } from './routes/forms/stage-gates.js'
import { gateInstanceRoutes } from './routes/gates/gate-instances.js'
import { gateLookupRoutes } from './routes/gates/gate-lookup.js'
import { delegationRoutes } from './routes/gates/delegations.js'
import { gatePluginRoutes } from './routes/gates/gate-plugins.js'
import type { GateRoutesDeps } from './routes/gates/gate-routes-deps.js'
import { gateRoutes } from './routes/gates/gates.js'
import { backgroundWorkRoutes } from './routes/messages/background-work.js'
import type { BackgroundWorkRoutesDeps } from './routes/messages/background-work.js'
import { outboxRoutes } from './routes/messages/outbox.js'
import type { OutboxRoutesDeps } from './routes/messages/outbox.js'
import { notificationRoutes } from './routes/messages/notifications.js'
import type { NotificationRoutesDeps } from './routes/messages/notifications.js'
import { webhookRoutes } from './routes/messages/webhooks.js'
import type { WebhookRoutesDeps } from './routes/messages/webhooks.js'
import { bundleRoutes } from './routes/policies/bundles.js'
import type { BundleRoutesDeps } from './routes/policies/bundles.js'
import { exceptionRoutes } from './routes/policies/exceptions.js'
import type { ExceptionRoutesDeps } from './routes/policies/exceptions.js'
import { statusRoutes } from './routes/about/status.js'
import type { StatusRoutesDeps } from './routes/about/status.js'
import { fleetRoutes } from './routes/policies/fleet.js'
import type { FleetRoutesDeps } from './routes/policies/fleet.js'
import { packageRoutes } from './routes/policies/packages.js'
import type { PackageRoutesDeps } from './routes/policies/packages.js'
import { revisionRoutes } from './routes/policies/revisions.js'
import type { RevisionRoutesDeps } from './routes/policies/revisions.js'
import { policySourceRoutes } from './routes/policies/sources.js'
import type { PolicySourceRoutesDeps } from './routes/policies/sources.js'
import { applicationRoutes, pipelineRoutes } from './routes/registry/registry.js'
import type { RegistryRoutesDeps } from './routes/registry/registry.js'
import { auditRoutes, executionRoutes } from './routes/trail/audit.js'
import type { AuditRoutesDeps } from './routes/trail/audit.js'
import type { TimelineDeps } from '../audit/execution-timeline.js'
import { impactRoutes } from './routes/policies/impact.js'
import type { ImpactRoutesDeps } from './routes/policies/impact.js'
import { decisionRoutes } from './routes/trail/decisions.js'
import type { DecisionRoutesDeps } from './routes/trail/decisions.js'
import { insightRoutes } from './routes/trail/insights.js'
import type { InsightRoutesDeps } from './routes/trail/insights.js'
export interface RoutesDeps extends DirectDeps {
  readonly about: AboutRoutesDeps
  readonly stored: WritingRoutesDeps
  readonly playground: PlaygroundRoutesDeps
  readonly decisions: DecisionRoutesDeps
  readonly impact: ImpactRoutesDeps
  readonly gates: GateRoutesDeps
  readonly forms: FormRoutesDeps
  readonly pages: PageRoutesDeps
  readonly audit: AuditRoutesDeps
  readonly timeline: TimelineDeps
  readonly registry: RegistryRoutesDeps
  readonly insights: InsightRoutesDeps
  readonly webhooks: WebhookRoutesDeps
  readonly outbox: OutboxRoutesDeps
  readonly notifications: NotificationRoutesDeps
  readonly backgroundWork: BackgroundWorkRoutesDeps
  readonly analysis: AnalysisRoutesDeps
  readonly policySources: PolicySourceRoutesDeps
  readonly revisions: RevisionRoutesDeps
  readonly bundles: BundleRoutesDeps
  readonly fleet: FleetRoutesDeps
  readonly exceptions: ExceptionRoutesDeps
  readonly opaStatus: StatusRoutesDeps
  readonly packages: PackageRoutesDeps
}

const PAGE_ROUTES = [
  ...homeRoutes,
  ...signInRoutes,
  ...approvalPageRoutes,
  ...decisionPageRoutes,
  ...policyPageRoutes,
  ...definitionPageRoutes,
  ...playgroundPageRoutes,
  ...executionPageRoutes,
  ...analysisPageRoutes,
  ...trailPageRoutes,
  ...estatePageRoutes,
  ...operationPageRoutes,
  ...fleetPageRoutes,
  ...accountPageRoutes,
  ...runPageRoutes,
  ...templatePageRoutes,
  ...sessionRoutes,
]

/** Returns the route lists of all features. Nothing else is served. */
export function routeLists(options: RouteOptions): readonly BindableRoutes<RoutesDeps>[] {
  const { policies, events, health } = directLists(options)
  return [
    policies,
    list('policies', impactRoutes, 'impact'),
    list('policies', policySourceRoutes, 'policySources'),
    list('policies', revisionRoutes, 'revisions'),
    list('policies', fleetRoutes, 'fleet'),
    list('policies', bundleRoutes, 'bundles'),
    list('policies', exceptionRoutes, 'exceptions'),
    list('policies', packageRoutes, 'packages'),
    list('policies', [...storedPolicyRoutes, ...storedDataRoutes], 'stored'),
    list('policies', statusRoutes, 'opaStatus'),
    list('policies', playgroundRoutes, 'playground'),
    list('decisions', decisionRoutes, 'decisions'),
    list(
      'gates',
      [...gateRoutes, ...gateInstanceRoutes, ...gatePluginRoutes, ...gateLookupRoutes, ...delegationRoutes],
      'gates',
    ),
    list(
      'forms',
      [...connectorFormRoutes, ...applicationFormRoutes, ...choiceFormRoutes, ...stageGateRoutes],
      'forms',
    ),
    events,
    list('audit', auditRoutes, 'audit'),
    list('audit', executionRoutes, 'timeline'),
    list('registry', [...applicationRoutes, ...pipelineRoutes], 'registry'),
    list('insights', insightRoutes, 'insights'),
    list('analysis', [...analysisRoutes, ...autopilotRoutes], 'analysis'),
    list('pages', PAGE_ROUTES, 'pages'),
    list('messages', webhookRoutes, 'webhooks'),
    list('messages', outboxRoutes, 'outbox'),
    list('messages', notificationRoutes, 'notifications'),
    list('operation', backgroundWorkRoutes, 'backgroundWork'),
    health,
    list('operation', aboutRoutes, 'about'),
  ]
}

function list<K extends keyof RoutesDeps>(
  feature: string,
  routes: readonly Route<RoutesDeps[K]>[],
  key: K,
): BindableRoutes<RoutesDeps> {
  return listOf(feature, routes, (deps) => deps[key])
}
