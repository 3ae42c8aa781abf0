import type { AuditEntry } from '../../store/ports/audit-store.js'
import type { InstanceEnd } from '../../store/ports/gate-store.js'
import type { Transaction, WriteOperation, Writer } from '../../store/ports/transaction.js'
import { callbackSubject } from './callback-message.js'

export interface RemovalStep {
  /** Removes instances that ended before this time. */
  readonly beforeMs: number
  /** Position after the previous step. */
  readonly after: InstanceEnd | undefined
  /** Highest number of instances checked in one transaction. */
  readonly limit: number
  readonly nowMs: number
}

export interface RemovedStep {
  readonly removed: number
  /** Position for the next step; undefined after the last one. */
  readonly last: InstanceEnd | undefined
}

/** Low, so that triggers and reviews wait only briefly. */
const INSTANCES_PER_STEP = 100

/** Removes instances that ended long ago, except those whose callback was not delivered. */
export const removeEnded: WriteOperation<RemovalStep, RemovedStep> = {
  name: 'gates.remove-ended',
  isBackground: true,
  apply: async (transaction, { beforeMs, after, limit, nowMs }) => {
    const { gates, audit } = transaction
    const ended = await gates.endedBefore({ beforeMs, after, limit })
    const old: InstanceEnd[] = []
    for (const end of ended) if (await isDelivered(transaction, end)) old.push(end)
    await gates.removeInstances(old.map(({ id }) => id))
    const entry = removalEntry(old, nowMs)
    if (entry !== undefined) await audit.append(entry)
    return { removed: old.length, last: ended.length < limit ? undefined : ended.at(-1) }
  },
}

/**
 * Removes all of them in steps until the signal is aborted. Returns the number of removed
 * instances.
 */
export async function removeAllEnded(
  writer: Writer,
  { beforeMs, nowMs, signal }: Pick<RemovalStep, 'beforeMs' | 'nowMs'> & { readonly signal: AbortSignal },
): Promise<number> {
  let total = 0
  let after: InstanceEnd | undefined
  do {
    const { removed, last } = await writer.run(removeEnded, {
      beforeMs,
      after,
      limit: INSTANCES_PER_STEP,
      nowMs,
    })
    total += removed
    after = last
  } while (after !== undefined && !signal.aborted)
  return total
}

/**
 * Whether all callbacks were delivered. Settled messages are deleted from the outbox after a while.
 */
async function isDelivered({ outbox }: Transaction, { id }: InstanceEnd): Promise<boolean> {
  const states = await outbox.statesOf(callbackSubject(id))
  return states.every((state) => state === 'delivered')
}

/** The trail keeps the decisions; this record says that the other data is gone. */
function removalEntry(old: readonly InstanceEnd[], nowMs: number): AuditEntry | undefined {
  const [first, last] = [old[0], old.at(-1)]
  if (first === undefined || last === undefined) return undefined
  const body = {
    removed: old.length,
    endedFrom: new Date(first.decidedMs).toISOString(),
    endedUntil: new Date(last.decidedMs).toISOString(),
    instances: old.map(({ id }) => id),
  }
  return {
    timeMs: nowMs,
    source: 'gate',
    kind: 'gate.instances_removed',
    origin: 'tidegate',
    body: Buffer.from(JSON.stringify(body)),
  }
}
