import type { AuditEntry } from '../../store/ports/audit-store.js'
import type { Actor } from './actor.js'
import type { Gate } from '../../store/ports/gate.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

/**
 * Makes the audit record of an event of an instance. `facts` are its details beyond the columns.
 */
export function instanceEntry(kind: string, instance: GateInstance, actor: Actor, facts: object): AuditEntry {
  const { id, gateId, gateName, application, executionId, state, comment } = instance
  return {
    timeMs: actor.nowMs,
    source: 'gate',
    kind,
    application,
    executionId,
    stage: gateName,
    user: actor.user,
    status: state,
    origin: actor.origin,
    body: jsonBytes(
      Object.assign(
        { instance: id, gate: gateId, gateName, executionId, state, comment, claimedUser: actor.claimedUser },
        facts,
      ),
    ),
  }
}

/** Makes the audit record of a change to a gate. */
export function gateEntry(kind: string, gate: Gate, actor: Actor): AuditEntry {
  return {
    timeMs: actor.nowMs,
    source: 'admin',
    kind,
    application: gate.application,
    pipeline: gate.pipeline,
    stage: gate.stage ?? gate.name,
    user: actor.user,
    origin: actor.origin,
    body: jsonBytes({ gate }),
  }
}

function jsonBytes(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
