import { parseConnectorParameters } from '../../../gates/connectors/tool/parse-connector-parameters.js'
import { requireAllowedCallbacks } from '../../../gates/triggering/trigger-body.js'
import type { TriggerBody } from '../../../gates/triggering/trigger-body.js'
import type { TriggerRequest } from '../../../gates/triggering/trigger-gate.js'
import { canonicalJson } from '../../../lib/json/edit/canonical.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import type { ParsedBody } from '../../input/read-json-body.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

/** Parses a trigger. Raises `invalid` for a callback address that is not allowed. */
export function readTrigger(
  exchange: Exchange,
  gateId: number,
  { bytes, body }: ParsedBody<TriggerBody>,
  { callbackTargets, now }: GateRoutesDeps,
): TriggerRequest {
  requireAllowedCallbacks(body, callbackTargets)
  const asked = parseConnectorParameters(body.toolConnectorParameters, body['connectorType'])
  const { user, origin } = callerOf(exchange)
  return {
    gateId,
    executionId: body.executionId,
    approvalCallbackUrl: body.approvalCallbackURL,
    rejectionCallbackUrl: body.rejectionCallbackURL,
    body: canonicalJson(bytes, 0, bytes.length).toString(),
    requestsEvidence: asked.requests.length + asked.problems.length > 0,
    triggeredBy: exchange.claimedUser ?? exchange.caller.tokenName,
    triggerToken: exchange.caller.tokenName,
    actor: { user, origin, claimedUser: exchange.claimedUser, nowMs: now() },
  }
}
