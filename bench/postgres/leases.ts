import { leaseMessages, recordAttempt } from '../../src/outbox/outbox-operations.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'

const RECEIVERS = 100
const LEASED_AT_ONCE = 64
const PER_RECEIVER = 8
const LEASE_MS = 60_000

const enqueue: WriteOperation<{ readonly from: number; readonly to: number; readonly nowMs: number }, void> =
  {
    name: 'test.enqueue',
    apply: async ({ outbox }, { from, to, nowMs }) => {
      for (let index = from; index < to; index += 1) {
        const url = `http://receiver-${index % RECEIVERS}.example/${index}`
        const body = JSON.stringify({ instance: index, status: 'approved', comment: 'fine' })
        await outbox.enqueue({ topic: 'gate.callback', url, body, createdMs: nowMs })
      }
    },
  }

/** Puts so many messages into the outbox, for a hundred receivers. */
export async function fillOutbox({ writer, now }: ServiceStore, messages: number): Promise<void> {
  const AT_ONCE = 500
  for (let from = 0; from < messages; from += AT_ONCE) {
    await writer.run(enqueue, { from, to: Math.min(from + AT_ONCE, messages), nowMs: now() })
  }
}

/** How many messages a second some stores lease, each with a note of what came of it: what a callback asks of the store. Raises when one is leased twice. */
export async function leaseRate(stores: readonly ServiceStore[], messages: number): Promise<number> {
  const seen = new Set<number>()
  const startedAt = performance.now()
  const work = async ({ writer, now }: ServiceStore): Promise<void> => {
    while (seen.size < messages) {
      const nowMs = now()
      const lease = await writer.run(leaseMessages, {
        nowMs,
        leasedUntilMs: nowMs + LEASE_MS,
        limit: LEASED_AT_ONCE,
        limitPerReceiver: PER_RECEIVER,
        underWay: {},
      })
      for (const { id } of lease.messages) {
        if (seen.has(id)) throw new Error(`message ${id} was leased twice`)
        seen.add(id)
      }
      await Promise.all(
        lease.messages.map(({ id }) => {
          const progress = {
            id,
            attempts: 1,
            state: 'delivered',
            nextAttemptMs: nowMs,
            settledMs: nowMs,
          } as const
          return writer.run(recordAttempt, { progress, entry: undefined })
        }),
      )
    }
  }
  await Promise.all(stores.map(work))
  return (messages / (performance.now() - startedAt)) * 1000
}
