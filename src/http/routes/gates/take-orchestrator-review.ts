import { z } from 'zod'

import { AppError, toAppError } from '../../../errors/app-error.js'
import { cancelForOrchestrator } from '../../../gates/reviewing/cancel-for-orchestrator.js'
import { isOpen } from '../../../store/ports/gate-instance.js'
import type { GateInstance } from '../../../store/ports/gate-instance.js'
import { asOf } from '../../../gates/instances/instance-view.js'
import { pluginStatus } from '../../../gates/instances/status-words.js'
import { recordIgnoredReview } from '../../../gates/reviewing/record-ignored-review.js'
import { cutText } from '../../../lib/text/shown-text.js'
import type { Authenticate } from '../../pipeline/authenticate.js'
import { callerOf } from '../../exchange/caller-of.js'
import type { Exchange } from '../../exchange/exchange.js'
import { readPathNumber } from '../../input/path-number.js'
import { readJsonBody } from '../../input/read-json-body.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { claimedUser } from './person-of.js'

const MAX_SHOWN = 100

const Body = z.looseObject({
  action: z.unknown().optional(),
  comment: z.unknown().optional(),
})
type Said = z.output<typeof Body>

/** Takes what the orchestrator says of an instance, named by its text in the path, and tells what is answered. Never rejects. */
export type TakeOrchestratorReview = (exchange: Exchange, idText: string) => Promise<object>

/**
 * Only a cancellation does anything: the orchestrator's approvals are claims of a user name. Anything but 200 is asked again
 * at once and without end (clients, section 2), until the stack of the one who asks is full. So whatever goes wrong is
 * answered with a status: an unknown instance, a body that cannot be read, a store that cannot be written, a token without
 * the right.
 */
export function makeTakeOrchestratorReview(
  authenticate: Authenticate,
  deps: GateRoutesDeps,
): TakeOrchestratorReview {
  return async (exchange, idText) => {
    const instanceId = readPathNumber(idText)
    try {
      const refusal = refusalOf(() => authenticate(exchange, ['orchestrator']))
      const said = await readLeniently(exchange, deps)
      if (instanceId === undefined) return unknown(`${cutText(idText, MAX_SHOWN)} is no instance`)
      if (refusal === undefined) return await takeReview(exchange, instanceId, said, deps)
      await recordIgnored(exchange, instanceId, asText(said.action), refusal, deps)
      return unknown(`nothing was done: ${refusal.message}`)
    } catch (raw) {
      exchange.failure = toAppError(raw)
      return unknown(`nothing was done: ${exchange.failure.message}`)
    }
  }
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
  const actor = { ...callerOf(exchange), claimedUser: claimedUser(exchange), nowMs }
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
  exchange.failure = refusal
  if ((await lookups.gates.findInstance(instanceId)) === undefined) return
  const nowMs = now()
  const unrecorded = ignoredReviews.take(instanceId, nowMs)
  if (unrecorded === undefined) return
  const actor = { ...callerOf(exchange), claimedUser: claimedUser(exchange), nowMs }
  const review = {
    instanceId,
    action: cutText(action, MAX_SHOWN),
    reason: refusal.message,
    unrecorded,
    actor,
  }
  await writer.run(recordIgnoredReview, review)
}

function refusalOf(check: () => void): AppError | undefined {
  try {
    check()
    return undefined
  } catch (raw) {
    return toAppError(raw)
  }
}

function unknown(comment: string): object {
  return { status: 'unknown', comment }
}

async function readLeniently(exchange: Exchange, { maxBodyBytes }: GateRoutesDeps): Promise<Said> {
  try {
    return await readJsonBody(exchange, Body, maxBodyBytes)
  } catch (raw) {
    if (raw instanceof AppError) return {}
    throw raw
  }
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
