import type { Gate } from '../../store/ports/gate.js'
import type { NewInstance } from '../../store/ports/gate-instance.js'

const MS_PER_MINUTE = 60_000

/** Expiry of an instance that starts to wait now. */
export function expiryOf({ timeToLiveMinutes }: Gate, nowMs: number): number {
  return nowMs + timeToLiveMinutes * MS_PER_MINUTE
}

/** Makes an instance of a gate that was not triggered yet. */
export function reservedInstance(gate: Gate, executionId: string, nowMs: number): NewInstance {
  return {
    gateId: gate.id,
    gateName: gate.name,
    application: gate.application,
    executionId,
    state: 'not_activated',
    comment: '',
    createdMs: nowMs,
    activatedMs: undefined,
    expiresMs: expiryOf(gate, nowMs),
    decidedMs: undefined,
    decidedBy: undefined,
    triggeredBy: undefined,
    triggerToken: undefined,
    bodyDigest: undefined,
    approvalCallbackUrl: undefined,
    rejectionCallbackUrl: undefined,
    work: undefined,
    acknowledgedMs: undefined,
    policyProblem: undefined,
    noticeMs: undefined,
  }
}
