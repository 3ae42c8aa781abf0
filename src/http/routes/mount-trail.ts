import type { Hono } from 'hono'

import type { TimelineDeps } from '../../audit/execution-timeline.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { auditRoutes, executionRoutes } from './audit.js'
import type { AuditRoutesDeps } from './audit.js'
import { insightRoutes } from './insights.js'
import type { InsightRoutesDeps } from './insights.js'
import { applicationRoutes, pipelineRoutes } from './registry.js'
import type { RegistryRoutesDeps } from './registry.js'
import { webhookRoutes } from './webhooks.js'
import type { WebhookRoutesDeps } from './webhooks.js'

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
