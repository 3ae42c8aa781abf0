import type { Gate } from '../../store/ports/gate.js'
import type { NewInstance } from '../../store/ports/gate-instance.js'

const MS_PER_MINUTE = 60_000

/** When an instance of a gate that begins to wait now expires. */
export function expiryOf({ timeToLiveMinutes }: Gate, nowMs: number): number {
  return nowMs + timeToLiveMinutes * MS_PER_MINUTE
}

/** An instance of a gate for an execution that nobody has triggered yet. */
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
  }
}
