import { toAppError } from '../../../errors/app-error.js'
import { requireInstance } from '../../../gates/instances/find-or-raise.js'
import { asOf, triggerView } from '../../../gates/instances/instance-view.js'
import { pluginStatus } from '../../../gates/instances/status-words.js'
import { PluginTriggerBody } from '../../../gates/triggering/trigger-body.js'
import type { TriggerBody } from '../../../gates/triggering/trigger-body.js'
import { triggerGate } from '../../../gates/triggering/trigger-gate.js'
import { baseUrl } from '../../exchange/base-url.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { jsonBodyWithBytes } from '../../input/body-reader.js'
import { numberOf } from '../../input/path-parameter.js'
import type { ParsedBody } from '../../input/read-json-body.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { PluginStatusAnswer, PluginTriggerAnswer } from './gate-answers.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { readTrigger } from './read-trigger.js'
import { orchestratorReviewRoute } from './orchestrator-review.js'

/** Status URL in `/v2/`: plugins derive their cancellation URL by rewriting that version. */
const STATUS_PATH = '/visibilityservice/v2/approvalGateInstances'
const VERSIONS = ['v1', 'v2', 'v4', 'v5']
const { route } = routesOf<GateRoutesDeps>()

/**
 * `/visibilityservice/v1,v2,v4,v5`: triggers, statuses and cancellations by the orchestrator's
 * approval stage.
 */
export const gatePluginRoutes = VERSIONS.flatMap((version) =>
  routesOfVersion(`/visibilityservice/${version}`),
)

function routesOfVersion(base: string): readonly Route<GateRoutesDeps>[] {
  return [
    route({
      method: 'POST',
      path: `${base}/approvalGates/:id/trigger`,
      roles: ['orchestrator'],
      handler: 'gates.trigger',
      showsErrors: true,
      summary: 'Trigger an approval gate, for plugins',
      params: { id: numberOf('approval gate') },
      body: jsonBodyWithBytes(PluginTriggerBody),
      answers: {
        202: {
          ...json('The instance.', PluginTriggerAnswer),
          headers: { Location: "URL of the instance's status." },
        },
      },
      answer: ({ exchange, params, body }, deps) => trigger(exchange, params.id, body, deps),
    }),
    route({
      method: 'GET',
      path: `${base}/approvalGateInstances/:id/status`,
      roles: ['orchestrator', 'approver', 'auditor'],
      handler: 'gates.status',
      isPolled: true,
      summary: 'Status of an instance, polled by plugins',
      params: { id: numberOf('approval gate instance') },
      answers: { 200: json('The status.', PluginStatusAnswer) },
      answer: async ({ params }, deps) => jsonAnswer(await statusOf(params.id, deps)),
    }),
    orchestratorReviewRoute(`${base}/approvalGateInstances/:id/spinnakerReview`),
  ]
}

async function trigger(
  exchange: Exchange,
  gateId: number,
  sent: ParsedBody<TriggerBody>,
  deps: GateRoutesDeps,
): Promise<Response> {
  const base = baseUrl(exchange, deps.orchestratorUrl)
  const { instance } = await deps.writer.run(triggerGate, readTrigger(exchange, gateId, sent, deps))
  deps.triggered(instance)
  const { approvalCallbackUrl: approvalCallbackURL, rejectionCallbackUrl: rejectionCallbackURL } = instance
  // Plugins append /fromPlugin?instanceId=…. The application and pipeline in the path are
  // informational.
  const application = encodeURIComponent(instance.application ?? 'any')
  const navigationalURL = `${baseUrl(exchange, deps.publicUrl)}/ui/plugin-isd/approval/${application}/any/${gateId}`
  const body = { ...triggerView(instance), approvalCallbackURL, rejectionCallbackURL, navigationalURL }
  return jsonAnswer(body, 202, { Location: `${base}${STATUS_PATH}/${instance.id}/status` })
}

async function statusOf(instanceId: number, { lookups, acknowledge, now }: GateRoutesDeps): Promise<object> {
  try {
    const instance = await requireInstance(lookups.gates, instanceId)
    await acknowledge(instance, now())
    const { state, comment } = asOf(instance, now())
    return { status: pluginStatus(state), comment }
  } catch (raw) {
    const { kind } = toAppError(raw)
    if (kind !== 'unavailable' && kind !== 'internal') throw raw
    // A 5xx would occupy an orchestrator thread for a minute; this only makes it poll again.
    return { status: 'activated', comment: '' }
  }
}
