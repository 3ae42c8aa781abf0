import type { WriteOperation } from '../../store/ports/transaction.js'
import { requireInstance } from '../instances/find-or-raise.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

export interface Acknowledgement {
  readonly instanceId: number
  readonly nowMs: number
}

/** Keeps that the caller knows an instance, the first time. Raises `not_found`. */
export const acknowledgeInstance: WriteOperation<Acknowledgement, void> = {
  name: 'gates.acknowledge',
  apply: async ({ gates }, { instanceId, nowMs }) => {
    const instance = await requireInstance(gates, instanceId)
    const acknowledged = acknowledgedAt(instance, nowMs)
    if (acknowledged !== instance) await gates.updateInstance(acknowledged)
  },
}

/**
 * The instance with the time at which its caller showed that it has the answer to its trigger, since it knows the number. A
 * reserved one proves nothing: its number was known before.
 */
export function acknowledgedAt(instance: GateInstance, nowMs: number): GateInstance {
  const isProof = instance.acknowledgedMs === undefined && instance.state !== 'not_activated'
  return isProof ? { ...instance, acknowledgedMs: nowMs } : instance
}
