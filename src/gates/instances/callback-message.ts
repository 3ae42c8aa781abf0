import type { OutboxMessage } from '../../store/ports/outbox-store.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { pluginStatus } from './status-words.js'

/** Subject of an instance's callbacks in the outbox. */
export function callbackSubject(instanceId: number): string {
  return `gate-instance:${instanceId}`
}

/** Makes the callback of a closed instance; undefined if nobody wants one. */
export function callbackMessage(instance: GateInstance, nowMs: number): OutboxMessage | undefined {
  const { id, gateId, gateName, application, executionId, state, comment, decidedBy, decidedMs } = instance
  const url = state === 'approved' ? instance.approvalCallbackUrl : instance.rejectionCallbackUrl
  if (url === undefined) return undefined
  const body = {
    approvalGateInstanceId: id,
    approvalGateId: gateId,
    gateName,
    application,
    executionId,
    status: pluginStatus(state),
    outcome: state,
    comment,
    decidedBy,
    decidedAt: new Date(decidedMs ?? nowMs).toISOString(),
  }
  return {
    topic: 'gate.callback',
    url,
    body: JSON.stringify(body),
    subject: callbackSubject(id),
    application,
    executionId,
    createdMs: nowMs,
  }
}
