import { randomUUID } from 'node:crypto'
import { afterEach } from 'vitest'
import { leaseMessages } from '../../../src/outbox/outbox-operations.js'
import type { Lease } from '../../../src/store/ports/outbox-store.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import type { WriteOperation } from '../../../src/store/ports/transaction.js'
import { NOW_MS } from '../gates.js'
import { openTestDatabase } from './test-database.js'
import type { ChangedOpening } from './test-database.js'

/**
 * Gives a function that opens the store of one of several processes over one database, here in one
 * process; each is closed after its test.
 */
export function useReplicaStores(): (name: string, changed?: ChangedOpening) => Promise<ServiceStore> {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  return async (name, changed) => {
    const store = await openTestDatabase(name, changed)
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => (closed ??= store.close())
    closers.push(close)
    return { ...store, close }
  }
}

/** Opens two of them. */
export async function openTwo(
  open: ReturnType<typeof useReplicaStores>,
  name: string = randomUUID(),
): Promise<{ one: ServiceStore; other: ServiceStore; name: string }> {
  return { one: await open(name), other: await open(name), name }
}

/** Puts messages into the outbox. */
export const enqueue: WriteOperation<{ readonly url: string; readonly count: number }, number> = {
  name: 'test.enqueue',
  apply: async ({ outbox }, { url, count }) => {
    for (let index = 0; index < count; index++) {
      await outbox.enqueue({ topic: 'gate.callback', url, body: '{}', createdMs: NOW_MS })
    }
    return count
  },
}

/** Leases due messages, like the sender of a process with this many in progress. */
export function leasing(
  store: ServiceStore,
  limitPerReceiver = 100,
  underWay: Readonly<Record<string, number>> = {},
): Promise<Lease> {
  const nowMs = store.now()
  return store.writer.run(leaseMessages, {
    nowMs,
    leasedUntilMs: nowMs + 15_000,
    limit: 100,
    limitPerReceiver,
    underWay,
  })
}
