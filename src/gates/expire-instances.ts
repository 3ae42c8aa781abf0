import type { WriteOperation } from '../store/transaction.js'
import { serviceActor } from './actor.js'
import { closeInstance } from './close-instance.js'
import { expire } from './transition.js'

export interface ExpiryRequest {
  readonly nowMs: number
  /** So many at most in one transaction. */
  readonly limit: number
}

/** Ends the instances that nobody decided in time; gives how many. */
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
