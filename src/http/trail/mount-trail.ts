import type { Hono } from 'hono'

import type { TimelineDeps } from '../../audit/execution-timeline.js'
import type { AppEnv } from '../exchange.js'
import type { Authenticate } from '../authenticate.js'
import { auditRoutes, executionRoutes } from '../routes/audit.js'
import type { AuditRoutesDeps } from '../routes/audit.js'
import { insightRoutes } from '../routes/insights.js'
import type { InsightRoutesDeps } from '../routes/insights.js'
import { applicationRoutes, pipelineRoutes } from '../routes/registry.js'
import type { RegistryRoutesDeps } from '../routes/registry.js'
import { webhookRoutes } from '../routes/webhooks.js'
import type { WebhookRoutesDeps } from '../routes/webhooks.js'

/** What the routes about the trail and the registry need. */
export interface TrailRoutesDeps {
  readonly audit: AuditRoutesDeps
  readonly timeline: TimelineDeps
  readonly registry: RegistryRoutesDeps
  readonly insights: InsightRoutesDeps
  readonly webhooks: WebhookRoutesDeps
}

/** Adds all that is asked about what happened and what there is. */
export function mountTrail(app: Hono<AppEnv>, authenticate: Authenticate, deps: TrailRoutesDeps): void {
  app.route('/audit', auditRoutes(authenticate, deps.audit))
  app.route('/executions', executionRoutes(authenticate, deps.timeline))
  app.route('/applications', applicationRoutes(authenticate, deps.registry))
  app.route('/pipelines', pipelineRoutes(authenticate, deps.registry))
  app.route('/insights', insightRoutes(authenticate, deps.insights))
  app.route('/webhooks', webhookRoutes(deps.webhooks))
}
