import type { Transaction, WriteOperation, Writer } from '../../store/ports/transaction.js'
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
  yields: true,
  apply: async (transaction, { nowMs, limit }) => {
    const due = await transaction.gates.dueInstances(nowMs, limit)
    for (const instance of due) {
      await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
    }
    return due.length
  },
}

/** In one transaction; others write between two of them. */
const AT_ONCE = 50

export interface ExpiryOptions {
  readonly writer: Writer
  readonly now: () => number
  /** Waits for so many milliseconds, or less when it is to stop. */
  readonly pause: (ms: number) => Promise<unknown>
  readonly signal: AbortSignal
}

/**
 * Ends all instances that nobody decided in time, in steps: after each it pauses for as long as the step took, so that thousands of them leave
 * half of the writing to others. Returns how many; an aborted signal ends it after the step under way.
 */
export async function expireAllDue({ writer, now, pause, signal }: ExpiryOptions): Promise<number> {
  let all = 0
  for (;;) {
    const startedAt = performance.now()
    const expired = await writer.run(expireInstances, { nowMs: now(), limit: AT_ONCE })
    all += expired
    if (expired < AT_ONCE || signal.aborted) return all
    await pause(performance.now() - startedAt)
  }
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
