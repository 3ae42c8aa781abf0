import { Hono } from 'hono'

import { toAppError } from '../../../errors/app-error.js'
import { requireInstance } from '../../../gates/instances/find-or-raise.js'
import { asOf, triggerView } from '../../../gates/instances/instance-view.js'
import { pluginStatus } from '../../../gates/instances/status-words.js'
import { PluginTriggerBody } from '../../../gates/triggering/trigger-body.js'
import { triggerGate } from '../../../gates/triggering/trigger-gate.js'
import type { AppEnv } from '../../exchange/exchange.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { baseUrl } from '../../exchange/base-url.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { readTrigger } from './read-trigger.js'
import { makeTakeOrchestratorReview } from './take-orchestrator-review.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { requirePathNumber } from '../../input/path-number.js'

/** The version of the paths that the plugins know to turn into that of their cancellation: they rewrite `/v2/`. */
const STATUS_PATH = '/visibilityservice/v2/approvalGateInstances'
const VERSION = ':version{v[1245]}'

/** `/visibilityservice/v1,v2,v4,v5`: triggers, statuses and cancellations as the orchestrator's approval stage asks. */
export function gatePluginRoutes(authenticate: Authenticate, deps: GateRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  const { writer, lookups, now } = deps
  const takeReview = makeTakeOrchestratorReview(authenticate, deps)
  app.post(`/${VERSION}/approvalGates/:id/trigger`, async (c) => {
    const { exchange } = c.env
    exchange.handler = 'gates.trigger'
    authenticate(exchange, ['orchestrator'])
    const base = baseUrl(exchange, deps.publicUrl)
    const gateId = requirePathNumber(c.req.param('id'), 'approval gate')
    const request = await readTrigger(exchange, gateId, PluginTriggerBody, deps)
    const { instance } = await writer.run(triggerGate, request)
    deps.triggered(instance.id)
    const { approvalCallbackUrl: approvalCallbackURL, rejectionCallbackUrl: rejectionCallbackURL } = instance
    // The plugins append /fromPlugin?instanceId=… to the URL for people.
    const navigationalURL = `${base}/approvalGateInstances`
    const body = { ...triggerView(instance), approvalCallbackURL, rejectionCallbackURL, navigationalURL }
    return jsonAnswer(body, 202, { Location: `${base}${STATUS_PATH}/${instance.id}/status` })
  })
  app.get(`/${VERSION}/approvalGateInstances/:id/status`, async (c) => {
    c.env.exchange.handler = 'gates.status'
    authenticate(c.env.exchange, ['orchestrator', 'approver', 'auditor'])
    const instanceId = requirePathNumber(c.req.param('id'), 'approval gate instance')
    return jsonAnswer(await statusOf(instanceId))
  })
  app.put(`/${VERSION}/approvalGateInstances/:id/spinnakerReview`, async (c) => {
    c.env.exchange.handler = 'gates.cancel'
    return jsonAnswer(await takeReview(c.env.exchange, c.req.param('id')))
  })
  async function statusOf(instanceId: number): Promise<object> {
    try {
      const instance = await requireInstance(lookups.gates, instanceId)
      await deps.acknowledge(instance, now())
      const { state, comment } = asOf(instance, now())
      return { status: pluginStatus(state), comment }
    } catch (raw) {
      const { kind } = toAppError(raw)
      if (kind !== 'unavailable' && kind !== 'internal') throw raw
      // A 5xx holds a worker of the orchestrator for a minute; this only lets it ask again.
      return { status: 'activated', comment: '' }
    }
  }
  return app
}
