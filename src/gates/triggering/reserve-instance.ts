import type { WriteOperation } from '../../store/ports/transaction.js'
import type { Actor } from '../instances/actor.js'
import { instanceEntry } from '../instances/audit-entries.js'
import { requireEnabledGate } from '../instances/find-or-raise.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'
import { reservedInstance } from './new-instance.js'

export interface ReserveRequest {
  readonly gateId: number
  readonly executionId: string
  readonly actor: Actor
}

/**
 * Reserves an instance for the trigger of an execution, or returns the reserved one. Raises
 * `not_found`, or `conflict` for a removed gate.
 */
export const reserveInstance: WriteOperation<ReserveRequest, GateInstance> = {
  name: 'gates.reserve',
  apply: async ({ gates, audit }, { gateId, executionId, actor }) => {
    const gate = await requireEnabledGate(gates, gateId)
    const reserved = await gates.findReserved(gateId, executionId)
    if (reserved !== undefined) return reserved
    const fresh = reservedInstance(gate, executionId, actor.nowMs)
    const instance = { ...fresh, id: await gates.addInstance(fresh) }
    await audit.append(instanceEntry('gate.reserved', instance, actor, {}))
    return instance
  },
}
