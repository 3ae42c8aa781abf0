import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { applyRetention } from '../../../src/audit/apply-retention.js'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { copyRecords } from '../../../src/store/copy/copy-records.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import { TRAIL } from '../../../src/store/postgres/audit/trail-months.js'
import { migrate } from '../../../src/store/postgres/engine/migrate.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { serviceSchema } from '../../../src/store/postgres/migrations/service.js'
import { addComingMonths } from '../../../src/store/postgres/months/monthly-table.js'
import { appendAll, entry, seqsOf } from '../../support/filled-trail.js'
import { createDatabase, query } from '../../support/postgres/postgres-server.js'
import { useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'
import { useSqliteStore } from '../../support/service-store.js'

const open = useReplicaStores()
const openSqlite = useSqliteStore()
const OF_EACH_MONTH = 60
const MONTHS = [Date.UTC(2026, 0, 20), Date.UTC(2026, 1, 10), Date.UTC(2026, 2, 5)]
const SINCE_MARCH = Date.UTC(2026, 2, 20)
const DAY_MS = 86_400_000

afterEach(() => {
  vi.useRealTimers()
})

/** An empty database of a name by which `open` finds it. */
async function emptyDatabase(name: string): Promise<PostgresSettings> {
  const { database } = await databaseOf(name)
  const server = inject('postgres')
  if (server === undefined) throw new Error('PostgreSQL is not installed')
  await query(server, `drop database "${database}"`)
  return await createDatabase(server, database)
}

/** A database with records of three months, as copied from files. */
async function copiedTrail(name: string): Promise<PostgresSettings> {
  vi.useFakeTimers({ toFake: ['Date'] })
  const sqlite = await openSqlite()
  for (const [index, timeMs] of MONTHS.entries()) {
    vi.setSystemTime(timeMs)
    const first = index * OF_EACH_MONTH
    await sqlite.writer.run(
      appendAll,
      Array.from({ length: OF_EACH_MONTH }, (_, number) => entry(first + number)),
    )
  }
  vi.useRealTimers()
  await sqlite.close()
  const settings = await emptyDatabase(name)
  await copyRecords({ dataDir: sqlite.dataDir, settings, secrets: {}, progress: () => undefined })
  return settings
}

async function partsOf(settings: PostgresSettings): Promise<string[]> {
  const rows = await query<{ name: string }>(
    settings,
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass",
  )
  return rows.map((row) => row.name).sort()
}

async function countOf(settings: PostgresSettings, table: string): Promise<number> {
  const [row] = await query<{ count: number }>(settings, `select count(*)::int4 as count from ${table}`)
  return row?.count ?? 0
}

function retain(
  store: ServiceStore,
  nowMs: number,
  maxAgeMs: number | undefined,
  maxBytes?: number,
): Promise<number> {
  return applyRetention({
    audit: store.lookups.audit,
    writer: store.writer,
    maintenance: store.maintenance,
    now: () => nowMs,
    removalTime: () => nowMs,
    signer: undefined,
    written: () => undefined,
    maxAgeMs,
    maxBytes,
    pause: () => Promise.resolve(),
    signal: new AbortController().signal,
  })
}

function thisMonth(): string {
  return `audit_${new Date().toISOString().slice(0, 7).replace('-', '_')}`
}

describe('the months of the trail', () => {
  it('each have a table, which the first record of a month makes, and are one chain', async () => {
    const name = randomUUID()
    const settings = await copiedTrail(name)
    expect(await partsOf(settings)).toEqual(['audit_2026_01', 'audit_2026_02', 'audit_2026_03'])
    const store = await open(name)
    // An event of January is known, and a new one is not.
    const [known, added] = await store.writer.run(appendAll, [entry(3), entry(1000)])
    expect([known, added]).toEqual([4, MONTHS.length * OF_EACH_MONTH + 1])
    expect(await partsOf(settings)).toContain(thisMonth())
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true, checked: 181 })
    expect(await seqsOf(store, { eventId: 'event-70' })).toEqual([71])
    expect(await seqsOf(store, { executionId: 'run-15' })).toEqual([64, 63, 62, 61])
    const { records } = await store.lookups.audit.textPage({ filter: {}, words: ['61'], limit: 10 })
    expect(records.map(({ seq }) => seq)).toEqual([62])
  })

  it('refuse to be changed or emptied, each by itself too', async () => {
    const settings = await copiedTrail(randomUUID())
    for (const statement of [
      "update audit_2026_01 set kind = 'x'",
      'delete from audit_2026_01',
      'truncate audit_2026_01',
      'truncate audit',
    ]) {
      await expect(query(settings, statement), statement).rejects.toThrow('append-only')
    }
  })

  it('go whole, behind a checkpoint, with the ids of their events, when all of one is too old', async () => {
    const name = randomUUID()
    const settings = await copiedTrail(name)
    const store = await open(name)
    expect(await retain(store, SINCE_MARCH, 40 * DAY_MS)).toBe(OF_EACH_MONTH)
    expect(await partsOf(settings)).toEqual(['audit_2026_02', 'audit_2026_03'])
    expect(await countOf(settings, 'audit_event_ids')).toBe(2 * OF_EACH_MONTH)
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({
      isIntact: true,
      checked: 2 * OF_EACH_MONTH,
      startsAfterSeq: OF_EACH_MONTH,
    })
    // The tenth of February is too old by then, and its month is not.
    expect(await retain(store, SINCE_MARCH, 30 * DAY_MS)).toBe(0)
    expect(await retain(store, SINCE_MARCH, 19 * DAY_MS)).toBe(OF_EACH_MONTH)
    expect(await partsOf(settings)).toEqual(['audit_2026_03'])
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true })
  })

  it('go without the ids of events of others where they hold nothing', async () => {
    const name = randomUUID()
    const settings = await copiedTrail(name)
    const [from, to] = [Date.UTC(2025, 11), Date.UTC(2026, 0)]
    await query(
      settings,
      `create table audit_2025_12 partition of audit for values from (${from}) to (${to})`,
    )
    const store = await open(name)
    const { bytes } = await store.lookups.audit.size()
    // Some records of January are too many, and January is not removed in part.
    expect(await retain(store, SINCE_MARCH, undefined, bytes * 0.9)).toBe(0)
    expect(await partsOf(settings)).toEqual(['audit_2026_01', 'audit_2026_02', 'audit_2026_03'])
    expect(await store.writer.run(appendAll, [entry(3)])).toEqual([4])
  })

  it('stay while somebody reads for long, and hold nobody up', async () => {
    const name = randomUUID()
    const settings = await copiedTrail(name)
    const store = await open(name)
    const reading = new Client(settings)
    await reading.connect()
    try {
      await reading.query('begin; select count(*) from audit')
      expect(await retain(store, SINCE_MARCH, 40 * DAY_MS)).toBe(0)
      expect(await store.writer.run(appendAll, [entry(1000)])).toHaveLength(1)
      await reading.query('commit')
    } finally {
      await reading.end()
    }
    expect(await retain(store, SINCE_MARCH, 40 * DAY_MS)).toBe(OF_EACH_MONTH)
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true })
  })

  it('are made by several at once, and a year ahead for users who may make none', async () => {
    const name = randomUUID()
    const settings = await databaseOf(name)
    const nowMs = Date.now()
    await Promise.all([1, 2, 3].map(() => addComingMonths(settings, [TRAIL], nowMs)))
    expect(await partsOf(settings)).toHaveLength(13)
    await query(
      settings,
      `create role only_writes login password 'loopback-only';
       grant select, insert, update, delete on all tables in schema public to only_writes`,
    )
    const store = await open(name, { settings: { user: 'only_writes' } })
    expect(await store.writer.run(appendAll, [entry(1)])).toEqual([1])
  })
})

describe('a trail from before there were months', () => {
  /** The contents of `copiedTrail` in one table. */
  async function olderTrail(name: string): Promise<PostgresSettings> {
    const source = await copiedTrail(randomUUID())
    const settings = await emptyDatabase(name)
    const before = Object.entries(serviceSchema.migrations).filter(([migration]) => migration < '0009')
    await migrate(settings, { migrations: Object.fromEntries(before), version: 8, oldestWriter: 6 })
    const rows = await query(source, 'select * from audit order by seq')
    for (const row of rows) {
      const places = Object.keys(row).map((_, index) => `$${index + 1}`)
      await query(settings, `insert into audit values (${places.join(', ')})`, Object.values(row))
    }
    return settings
  }

  it('is kept as the first part, with every link, and continues', async () => {
    const name = randomUUID()
    const settings = await olderTrail(name)
    const [last] = await query<{ hash: Buffer }>(settings, 'select hash from audit order by seq desc limit 1')
    const [store, other] = await Promise.all([open(name), open(name)])
    expect(await partsOf(settings)).toEqual([expect.stringMatching(/^audit_before_/)])
    expect((await store.lookups.audit.end()).hash).toBe(last?.hash.toString('hex'))
    expect(await store.writer.run(appendAll, [entry(3), entry(1000)])).toEqual([4, 181])
    expect(await other.writer.run(appendAll, [entry(1001)])).toEqual([182])
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true, checked: 182 })
    expect(await seqsOf(store, { eventId: 'event-70' })).toEqual([71])
    await expect(query(settings, 'delete from audit where seq = 3')).rejects.toThrow('append-only')
  })

  it('loses its old records in steps, to the day', async () => {
    const name = randomUUID()
    const settings = await olderTrail(name)
    const store = await open(name)
    expect(await retain(store, SINCE_MARCH, 30 * DAY_MS)).toBe(2 * OF_EACH_MONTH)
    expect(await countOf(settings, 'audit_event_ids')).toBe(OF_EACH_MONTH)
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({
      isIntact: true,
      checked: OF_EACH_MONTH,
    })
  })
})
