import { exportTrail } from '../../src/audit/export-trail.js'
import type { ExportQuery } from '../../src/audit/export-trail.js'
import { searchTrail } from '../../src/audit/search-trail.js'
import type { TrailQuery } from '../../src/audit/search-trail.js'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import { recordEvents } from '../../src/events/record-events.js'
import {
  indexColumns,
  indexText,
  mergeText,
  settleEventIds,
} from '../../src/store/sqlite/maintenance/maintenance-operations.js'
import type { SqliteServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { makeEvent } from './events.js'

const EVENTS_PER_STEP = 50
/** As the service does under load: see src/store/sqlite/maintenance/trail-indexer.ts. */
const RECORDS_PER_INDEXING = 4000
const VALUES_PER_STEP = 1500
const IDS = { limit: 500 }
const IDS_GATHERED = 20_000
const TEXT_STEP = 200

/** Appends events up to a number of records; returns the microseconds per record of the last `measured`, without making them. */
export async function fill(
  store: SqliteServiceStore,
  from: number,
  to: number,
  measured: number,
  receivedMs: () => number = Date.now,
): Promise<number> {
  let us = 0
  for (let index = from; index < to; index += EVENTS_PER_STEP) {
    const bodies = Array.from({ length: EVENTS_PER_STEP }, (_, offset) => ({
      endpoint: 'echo' as const,
      body: new Uint8Array(makeEvent(index + offset)),
      receivedMs: receivedMs(),
      origin: '127.0.0.1',
    }))
    const startedAt = performance.now()
    await store.writer.run(recordEvents, bodies)
    if (index >= to - measured) us += (performance.now() - startedAt) * 1000
    if (index % RECORDS_PER_INDEXING === 0) {
      const indexAt = performance.now()
      await indexAllColumns(store)
      if (index >= to - measured) us += (performance.now() - indexAt) * 1000
    }
  }
  return us / measured
}

async function indexAllColumns({ writer, lookups }: SqliteServiceStore): Promise<void> {
  const step = { records: RECORDS_PER_INDEXING, values: VALUES_PER_STEP }
  while (await writer.run(indexColumns, step));
  for (let ids = 0; ids < RECORDS_PER_INDEXING; ids += IDS.limit) {
    const { keysSeq, endSeq } = await lookups.maintenance.progress()
    if (endSeq - keysSeq < IDS_GATHERED || !(await writer.run(settleEventIds, IDS))) break
  }
}

/** Brings free text up to date; returns the microseconds per record. */
export async function indexAllText(store: SqliteServiceStore): Promise<number> {
  const startedAt = performance.now()
  let records = 0
  for (;;) {
    const count = await store.writer.run(indexText, { limit: TEXT_STEP, maxBytes: 1e9 })
    while (await store.writer.run(mergeText, { pages: 64, maxMs: 100 }));
    records += count
    if (count < TEXT_STEP) break
  }
  await indexAllColumns(store)
  return ((performance.now() - startedAt) * 1000) / Math.max(records, 1)
}

/** The time, in milliseconds, that 99 of a hundred searches stay below. */
export async function searchP99(
  store: SqliteServiceStore,
  searches: number,
  query: (index: number) => Omit<TrailQuery, 'limit'>,
): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < searches; index += 1) {
    const startedAt = performance.now()
    await searchTrail(store.reader, { ...query(index), limit: 50 })
    times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  return times[Math.ceil(times.length * 0.99) - 1] ?? 0
}

/** Records a second. */
export async function exportRate(
  store: SqliteServiceStore,
  records: number,
  query: ExportQuery,
): Promise<number> {
  const startedAt = performance.now()
  let bytes = 0
  for await (const lines of exportTrail(store.reader, query)) bytes += lines.byteLength
  if (bytes === 0) throw new Error('nothing was exported')
  return (records / (performance.now() - startedAt)) * 1000
}

/** Records a second. */
export async function verifyRate(store: SqliteServiceStore, records: number): Promise<number> {
  const startedAt = performance.now()
  const { isIntact, checked, problems } = await verifyTrail({ reader: store.reader })
  if (!isIntact || checked !== records) throw new Error(`${checked} records: ${problems.join('; ')}`)
  return (records / (performance.now() - startedAt)) * 1000
}
