import type { Gate, GateDefinition } from '../../src/store/ports/gate.js'
import type { GateInstance } from '../../src/store/ports/gate-instance.js'
import { saveGateChanges } from '../../src/gates/definitions/declare-gates.js'
import { triggerGate } from '../../src/gates/triggering/trigger-gate.js'
import type { TriggerRequest } from '../../src/gates/triggering/trigger-gate.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import type { Writer } from '../../src/store/ports/transaction.js'

export const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')

/** A gate that one person of any name may approve. */
export const DEFINITION: GateDefinition = {
  name: 'Release',
  application: 'shop',
  connectors: [],
  approvers: { users: [], groups: [] },
  approvals: 1,
  triggererMayApprove: false,
  timeToLiveMinutes: 60,
}

/** The gate of that definition. */
export function makeGate(more: Partial<Gate> = {}): Gate {
  return {
    ...DEFINITION,
    id: 7,
    origin: 'configuration',
    isEnabled: true,
    createdMs: NOW_MS,
    changedMs: NOW_MS,
    ...more,
  }
}

/** An instance that waits for decisions, triggered by ana. */
export function makeInstance(more: Partial<GateInstance> = {}): GateInstance {
  return {
    id: 1,
    gateId: 7,
    gateName: 'Release',
    application: 'shop',
    executionId: '01J',
    state: 'activated',
    comment: '',
    createdMs: NOW_MS,
    activatedMs: NOW_MS,
    expiresMs: NOW_MS + 3_600_000,
    decidedMs: undefined,
    decidedBy: undefined,
    triggeredBy: 'ana',
    triggerToken: 'ci',
    bodyDigest: undefined,
    approvalCallbackUrl: 'http://receiver.example/approved',
    rejectionCallbackUrl: 'http://receiver.example/rejected',
    work: undefined,
    acknowledgedMs: undefined,
    policyProblem: undefined,
    noticeMs: undefined,
    ...more,
  }
}

/** A trigger of gate 7 as the routes read it. */
export function makeTrigger(more: Partial<TriggerRequest> = {}): TriggerRequest {
  return {
    gateId: 7,
    executionId: '01J',
    approvalCallbackUrl: 'http://receiver.example/approved',
    rejectionCallbackUrl: 'http://receiver.example/rejected',
    body: '{"executionId":"01J"}',
    requestsEvidence: false,
    triggeredBy: 'ana',
    triggerToken: 'ci',
    actor: { user: 'ci', origin: 'test', nowMs: NOW_MS },
    ...more,
  }
}

/** Saves a gate and triggers it; returns the instance. */
export async function triggered(
  writer: Writer,
  gate: Gate = makeGate(),
  more: Partial<TriggerRequest> = {},
): Promise<GateInstance> {
  await writer.run(saveGateChanges, [{ kind: 'gate.declared', gate }])
  const { instance } = await writer.run(triggerGate, makeTrigger({ gateId: gate.id, ...more }))
  return instance
}

/** The whole trail. */
export async function trail({ lookups }: ServiceStore) {
  const records = []
  for (let seq = 1; ; seq++) {
    const record = await lookups.audit.find(seq)
    if (record === undefined) return records
    const body = JSON.parse(Buffer.from(record.body).toString()) as Record<string, unknown>
    records.push({ ...record, body })
  }
}
