import { z } from 'zod'

import { cancelForOrchestrator } from '../../gates/cancel-for-orchestrator.js'
import { isOpen } from '../../gates/gate-instance.js'
import type { GateInstance } from '../../gates/gate-instance.js'
import { asOf } from '../../gates/instance-view.js'
import { pluginStatus } from '../../gates/status-words.js'
import { AppError } from '../../errors.js'
import { callerOf } from '../caller-of.js'
import type { Exchange } from '../exchange.js'
import { readPathNumber } from '../path-number.js'
import { readJsonBody } from '../read-json-body.js'
import type { GateRoutesDeps } from './gate-routes-deps.js'
import { claimedUser } from './person-of.js'

const Body = z.looseObject({
  action: z.unknown().optional(),
  comment: z.unknown().optional(),
})

/**
 * What the orchestrator says of an instance. Only a cancellation does anything: its approvals are claims of a user name.
 * Anything but 200 is asked again without end (clients, section 2), so an unknown instance and an unreadable body are
 * answered like an instance that is closed already.
 */
export async function takeOrchestratorReview(
  exchange: Exchange,
  idText: string,
  deps: GateRoutesDeps,
): Promise<object> {
  const { action, comment } = await readLeniently(exchange, deps)
  const instanceId = readPathNumber(idText)
  if (instanceId === undefined) return { status: 'unknown', comment: `${idText} is no instance` }
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

async function readLeniently(
  exchange: Exchange,
  { maxBodyBytes }: GateRoutesDeps,
): Promise<z.output<typeof Body>> {
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
