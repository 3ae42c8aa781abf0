import type { WriteOperation, Transaction } from '../../store/ports/transaction.js'
import { serviceActor } from './actor.js'
import { closeInstance } from './close-instance.js'
import { expire, isDue } from './transition.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

export interface ExpiryRequest {
  readonly nowMs: number
  /** At most this many in one transaction. */
  readonly limit: number
}

/** Ends the instances that nobody decided in time; returns how many. */
export const expireInstances: WriteOperation<ExpiryRequest, number> = {
  name: 'gates.expire',
  apply: async (transaction, { nowMs, limit }) => {
    const due = await transaction.gates.dueInstances(nowMs, limit)
    for (const instance of due) {
      await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
    }
    return due.length
  },
}

/**
 * Ends an instance whose time is over before anything else may happen to it: who asked for its status in between was told
 * that it has expired, and nothing may open it again. Returns the instance as it is then.
 */
export async function expireIfDue(
  transaction: Transaction,
  instance: GateInstance,
  nowMs: number,
): Promise<GateInstance> {
  if (!isDue(instance, nowMs)) return instance
  return await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
}
