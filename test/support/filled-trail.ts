import type { AuditEntry, AuditFilter, ChainEnd } from '../../src/store/ports/audit-store.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import type { TestStore } from './service-store.js'

export const HOUR = 3_600_000

export const appendAll: WriteOperation<readonly AuditEntry[], number[]> = {
  name: 'test.append-all',
  apply: async ({ audit }, entries) => {
    const seqs = []
    for (const entry of entries) seqs.push((await audit.append(entry)).seq)
    return seqs
  },
}
/** Removes the records up to a link of the chain. */
export const retain: WriteOperation<ChainEnd, number> = {
  name: 'test.retain',
  apply: async ({ audit }, end) => {
    await audit.addCheckpoint({ ...end, atMs: 1, reason: 'retention' })
    return (await audit.deleteThrough(end.seq, 1000)).removed
  },
}

/** The event of a number: of one of three applications, in an execution of four. */
export const entry = (index: number, columns: Partial<AuditEntry> = {}): AuditEntry => ({
  timeMs: HOUR + index,
  source: 'event',
  kind: index % 2 === 0 ? 'even' : 'odd',
  application: `app-${index % 3}`,
  executionId: `run-${Math.floor(index / 4)}`,
  eventId: `event-${index}`,
  body: Buffer.from(JSON.stringify({ index, words: `number ${index} Zürich`, note: 'a\nline' })),
  ...columns,
})

export const entries = (count: number): AuditEntry[] =>
  Array.from({ length: count }, (_, index) => entry(index + 1))

/** A store whose trail contains the first `count` events. */
export async function filledTrail<Store extends TestStore>(
  opening: Promise<Store>,
  count: number,
): Promise<Store> {
  const store = await opening
  await store.writer.run(appendAll, entries(count))
  return store
}

/** The numbers of the records that a filter finds, newest first. */
export async function seqsOf(store: ServiceStore, filter: AuditFilter, limit = 100): Promise<number[]> {
  const records = await store.lookups.audit.page({ filter, order: 'newest_first', limit })
  return records.map(({ seq }) => seq)
}
