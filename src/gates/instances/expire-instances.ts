import type { Transaction, WriteOperation, Writer } from '../../store/ports/transaction.js'
import { serviceActor } from './actor.js'
import { closeInstance } from './close-instance.js'
import { expire, isDue } from './transition.js'
import type { GateInstance } from '../../store/ports/gate-instance.js'

export interface ExpiryRequest {
  readonly nowMs: number
  /** Highest number of instances in one transaction. */
  readonly limit: number
}

/** Expires due instances. Returns the number of expired instances. */
export const expireInstances: WriteOperation<ExpiryRequest, number> = {
  name: 'gates.expire',
  isBackground: true,
  apply: async (transaction, { nowMs, limit }) => {
    const due = await transaction.gates.dueInstances(nowMs, limit)
    for (const instance of due) {
      await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
    }
    return due.length
  },
}

/** Instances per transaction. Other writes run in between. */
const INSTANCES_PER_STEP = 50

export interface ExpiryOptions {
  readonly writer: Writer
  readonly now: () => number
  /** Waits for some milliseconds, or less if the service stops. */
  readonly pause: (ms: number) => Promise<unknown>
  readonly signal: AbortSignal
}

/**
 * Expires all due instances in steps. The pause after a step is as long as the step, so that others
 * get half of the writing time. Returns the number of expired instances. An aborted signal ends it
 * after the current step.
 */
export async function expireAllDue({ writer, now, pause, signal }: ExpiryOptions): Promise<number> {
  let total = 0
  for (;;) {
    const startedAt = performance.now()
    const expired = await writer.run(expireInstances, { nowMs: now(), limit: INSTANCES_PER_STEP })
    total += expired
    if (expired < INSTANCES_PER_STEP || signal.aborted) return total
    await pause(performance.now() - startedAt)
  }
}

/**
 * Expires a due instance before any other change: its status was already reported as expired and
 * must not reopen. Returns the current instance.
 */
export async function expireIfDue(
  transaction: Transaction,
  instance: GateInstance,
  nowMs: number,
): Promise<GateInstance> {
  if (!isDue(instance, nowMs)) return instance
  return await closeInstance(transaction, instance, expire(instance), serviceActor(nowMs))
}
