import type { Transaction } from '../store/transaction.js'
import { serviceActor } from './actor.js'
import { closeInstance } from './close-instance.js'
import type { GateInstance } from './gate-instance.js'
import { expire, isDue } from './transition.js'

/**
 * Ends an instance whose time is over before anything else may happen to it: who asked for its status in between was told
 * that it has expired, and nothing may open it again. Gives the instance as it is then.
 */
export async function expireIfDue(
  transaction: Transaction,
  instance: GateInstance,
  nowMs: number,
): Promise<GateInstance> {
  if (!isDue(instance, nowMs)) return instance
  return await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
}
