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
import { readPathNumber } from '../../input/path-number.js'
import { textOf } from '../../input/path-parameter.js'
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
type Said = z.output<typeof Body>

/** The answer to a review: always 200. */
const ANSWERS = {
  200: json('How the instance stands, or that nothing was done and why.', OrchestratorReviewAnswer),
}

/** A body that cannot be read says nothing. */
const lenientBody: BodyReader<GateRoutesDeps, Said> = {
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
 * `PUT …/spinnakerReview`. Only a cancellation does anything: the orchestrator's approvals are claims of a user name. Anything but 200 is asked again
 * at once and without end (clients, section 2), until the stack of the one who asks is full. So whatever goes wrong is
 * answered with a status: an unknown instance, a body that cannot be read, a store that cannot be written, a token without
 * the right.
 */
export function orchestratorReviewRoute(path: string): Route<GateRoutesDeps> {
  return routesOf<GateRoutesDeps>().route({
    method: 'PUT',
    path,
    roles: ['orchestrator'],
    handler: 'gates.cancel',
    summary: 'Cancel an instance, as the orchestrator does; other reviews of its do nothing',
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
  { action, comment }: Said,
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
  return { status: 'unknown', comment: `${cutText(text, MAX_SHOWN)} is no instance` }
}

function nothingDone({ message }: AppError): object {
  return { status: 'unknown', comment: `nothing was done: ${message}` }
}

function statusOf(id: number, instance: GateInstance | undefined): object {
  if (instance === undefined) return { id, status: 'unknown', comment: 'there is no such instance' }
  return { id, status: pluginStatus(instance.state), comment: instance.comment }
}

/** A member that should be a text: a cancellation counts whatever its reason looks like. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
