import { z } from 'zod'

import { AppError } from '../../../errors/app-error.js'
import { cancelForOrchestrator } from '../../../gates/reviewing/cancel-for-orchestrator.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { GateInstance } from '../../../store/ports/gate-instance.js'
import { asOf } from '../../../gates/instances/instance-view.js'
import { pluginStatus } from '../../../gates/instances/status-words.js'
import { recordIgnoredReview } from '../../../gates/reviewing/ignored-reviews.js'
import { cutText } from '../../../lib/text/shown-text.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyReader } from '../../input/body-reader.js'
import { readPathNumber, textOf } from '../../input/path-parameter.js'
import { readJsonBody } from '../../input/read-json-body.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'
import { OrchestratorReviewAnswer } from './gate-answers.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'

const MAX_SHOWN = 100

const Body = z.looseObject({
  action: z.unknown().optional(),
  comment: z.unknown().optional(),
})
type SentReview = z.output<typeof Body>

/** The response to a review, always 200. */
const ANSWERS = {
  200: json('The status of the instance, or why nothing was done.', OrchestratorReviewAnswer),
}

/** Ignores a body that cannot be read. */
const lenientBody: BodyReader<GateRoutesDeps, SentReview> = {
  schema: Body,
  read: async (exchange, { maxBodyBytes }) => {
    try {
      return await readJsonBody(exchange, Body, maxBodyBytes)
    } catch (raw) {
      if (raw instanceof AppError) return {}
      throw raw
    }
  },
}

/**
 * `PUT …/spinnakerReview`. Only cancellations take effect, since the orchestrator's approvals only
 * claim a user name. The orchestrator retries anything but 200 immediately and recursively, until
 * its stack overflows (clients, section 2). So every failure is 200 with a status, including an
 * unknown instance, an unreadable body, an unavailable store, and a token without the role.
 */
export function orchestratorReviewRoute(path: string): Route<GateRoutesDeps> {
  return routesOf<GateRoutesDeps>().route({
    method: 'PUT',
    path,
    roles: ['orchestrator'],
    handler: 'gates.cancel',
    summary: 'Cancel an instance, for the orchestrator; other reviews have no effect',
    params: { id: textOf('The number of the instance.') },
    body: lenientBody,
    answers: ANSWERS,
    answer: async ({ exchange, params: { id }, body }, deps) => {
      const instanceId = readPathNumber(id)
      if (instanceId === undefined) return jsonAnswer(noInstance(id))
      return jsonAnswer(await takeReview(exchange, instanceId, body, deps))
    },
    refused: async (refusal, { exchange, params: { id = '' } }, deps) => {
      const { action } = await lenientBody.read(exchange, deps)
      const instanceId = readPathNumber(id)
      if (instanceId === undefined) return jsonAnswer(noInstance(id))
      await recordIgnored(exchange, instanceId, asText(action), refusal, deps)
      return jsonAnswer(nothingDone(refusal))
    },
    failed: (failure) => jsonAnswer(nothingDone(failure)),
  })
}

async function takeReview(
  exchange: Exchange,
  instanceId: number,
  { action, comment }: SentReview,
  deps: GateRoutesDeps,
): Promise<object> {
  const nowMs = deps.now()
  if (asText(action).toLowerCase() !== 'cancel') {
    const found = await deps.lookups.gates.findInstance(instanceId)
    return statusOf(instanceId, found === undefined ? undefined : asOf(found, nowMs))
  }
  const actor = { ...callerOf(exchange), claimedUser: exchange.claimedUser, nowMs }
  const request = { instanceId, comment: asText(comment), actor }
  const instance = await deps.writer.run(cancelForOrchestrator, request)
  if (instance !== undefined && !isOpen(instance.state)) deps.closed()
  return statusOf(instanceId, instance)
}

async function recordIgnored(
  exchange: Exchange,
  instanceId: number,
  action: string,
  refusal: AppError,
  { lookups, writer, ignoredReviews, now }: GateRoutesDeps,
): Promise<void> {
  if ((await lookups.gates.findInstance(instanceId)) === undefined) return
  const nowMs = now()
  const unrecorded = ignoredReviews.take(instanceId, nowMs)
  if (unrecorded === undefined) return
  const actor = { ...callerOf(exchange), claimedUser: exchange.claimedUser, nowMs }
  const review = {
    instanceId,
    action: cutText(action, MAX_SHOWN),
    reason: refusal.message,
    unrecorded,
    actor,
  }
  await writer.run(recordIgnoredReview, review)
}

function noInstance(text: string): object {
  return { status: 'unknown', comment: `${cutText(text, MAX_SHOWN)} is not an instance` }
}

function nothingDone({ message }: AppError): object {
  return { status: 'unknown', comment: `nothing was done: ${message}` }
}

function statusOf(id: number, instance: GateInstance | undefined): object {
  if (instance === undefined) return { id, status: 'unknown', comment: 'instance not found' }
  return { id, status: pluginStatus(instance.state), comment: instance.comment }
}

/**
 * Converts a member that should be a string. A cancellation counts whatever its reason looks like.
 */
function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
