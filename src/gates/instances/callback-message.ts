import type { OutboxMessage } from '../../store/ports/outbox-store.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { pluginStatus } from './status-words.js'

/** What the callbacks of an instance are found by in the outbox. */
export function callbackSubject(instanceId: number): string {
  return `gate-instance:${instanceId}`
}

/** What the one who triggered a closed instance is told, or undefined where nobody is to be told. */
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
