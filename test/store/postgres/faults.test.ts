import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { recordAttempt } from '../../../src/outbox/outbox-operations.js'
import { migrate } from '../../../src/store/postgres/engine/migrate.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { serviceSchema } from '../../../src/store/postgres/migrations/service.js'
import { openPostgresStore } from '../../../src/store/postgres/threads/open-postgres-store.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import type { WriteOperation } from '../../../src/store/ports/transaction.js'
import { appendAll, entry } from '../../support/filled-trail.js'
import { NOW_MS } from '../../support/gates.js'
import { createDatabase, query } from '../../support/postgres/postgres-server.js'
import { enqueue, leasing, openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'
import { startTcpProxy } from '../../support/postgres/tcp-proxy.js'
import { databaseOf } from '../../support/postgres/test-database.js'
import { SERVICE_OPERATIONS } from '../../support/store-operations.js'

const MINUTES = 60_000
const open = useReplicaStores()

/** Two stores, the first of which reaches the database over a network that can be made bad. */
async function oneBehindProxy() {
  const name = randomUUID()
  const settings = await databaseOf(name)
  const proxy = await startTcpProxy(settings.port)
  onTestFinished(() => proxy.close())
  const one = await open(name, { settings: { port: proxy.port } })
  return { one, other: await open(name), proxy, name, settings }
}
const append = (store: ServiceStore, index: number) => store.writer.run(appendAll, [entry(index)])
const endConnections =
  'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()'

describe('a replica whose clock is wrong', () => {
  it('goes by the clock of the database, as all do, and says so', async () => {
    const name = randomUUID()
    const early = await open(name, { clock: () => Date.now() - 5 * MINUTES })
    const late = await open(name, { clock: () => Date.now() + 5 * MINUTES })
    expect(Math.abs(early.now() - late.now())).toBeLessThan(5000)
    expect(Math.abs(early.now() - Date.now())).toBeLessThan(5000)
    expect(early.warning?.()).toMatch(/clock is (?:299|300|301) s behind/)
    expect(late.warning?.()).toMatch(/clock is (?:299|300|301) s ahead/)
    await early.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 })
    // Work of one service is not due for the other, regardless of that one's clock.
    expect((await leasing(early)).messages).toHaveLength(1)
    expect((await leasing(late)).messages).toEqual([])
    expect(await early.leases.take('work', '1')).toBeDefined()
    expect(await late.leases.take('work', '1')).toBeUndefined()
    await append(early, 1)
    await append(late, 2)
    await append(early, 3)
    const records = await late.lookups.audit.page({ filter: {}, order: 'oldest_first', limit: 10 })
    const times = records.map(({ recordedMs }) => recordedMs)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(MINUTES)
  })
})

describe('a replica that is cut off from the database', () => {
  it(
    'loses its leases by its own clock, and comes back without those that another one has then',
    { timeout: 60_000 },
    async () => {
      const { one, other, proxy } = await oneBehindProxy()
      await one.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 })
      const [first] = (await leasing(one)).messages
      const lease = await one.leases.take('work', '1')
      proxy.cut(true)
      await expect.poll(() => lease?.lost.aborted).toBe(true)
      await expect.poll(() => other.leases.take('work', '1')).toBeDefined()
      const [again] = (await leasing(other)).messages
      expect(again?.webhookId).toBe(first?.webhookId)
      proxy.cut(false)
      // Its report about the message arrives late.
      const id = first?.id ?? 0
      const progress = {
        id,
        attempts: 1,
        state: 'given_up',
        nextAttemptMs: NOW_MS,
        settledMs: NOW_MS,
      } as const
      await expect
        .poll(
          () => one.writer.run(recordAttempt, { progress, entry: undefined }).then(() => 'answered', String),
          {
            timeout: 40_000,
          },
        )
        .toBe('answered')
      expect((await other.lookups.outbox.find(id))?.state).toBe('pending')
      expect(await one.leases.take('work', '1')).toBeUndefined()
      await expect.poll(() => one.problem()).toBeUndefined()
    },
  )

  it('holds nobody else up for long, though it was within a transaction', { timeout: 40_000 }, async () => {
    const { one, other, proxy } = await oneBehindProxy()
    const cutting: WriteOperation<undefined, void> = {
      name: 'test.cutting',
      apply: async ({ audit, gates }) => {
        await audit.append(entry(1))
        proxy.cut(true)
        await gates.highestGateId()
      },
    }
    const cut = one.writer.run(cutting, undefined).then(
      () => 'kept',
      () => 'refused',
    )
    await expect.poll(() => append(other, 2).then(() => 'kept', String), { timeout: 30_000 }).toBe('kept')
    proxy.cut(false)
    expect(await cut).toBe('refused')
    const found = await verifyTrail({ reader: other.reader })
    expect(found).toMatchObject({ isIntact: true, checked: 1 })
  })

  it('is only slower where the network is slow', async () => {
    const { one, other, proxy } = await oneBehindProxy()
    proxy.delay(50)
    const writes = Array.from({ length: 40 }, (_, index) => append(index % 2 === 0 ? one : other, index))
    await Promise.all(writes)
    expect(await verifyTrail({ reader: other.reader })).toMatchObject({ isIntact: true, checked: 40 })
    expect(one.problem()).toBeUndefined()
  })
})

describe('a database that is not well', () => {
  it('refuses writes while it takes none, and takes them again when it does, or another one is at its place', async () => {
    const { one, name } = await openTwo(open)
    const settings = await databaseOf(name)
    const setReadOnly = (value: 'on' | 'off') =>
      query(
        { ...settings, database: 'postgres' },
        `alter database "${settings.database}" set default_transaction_read_only = ${value}`,
      )
    await append(one, 1)
    await setReadOnly('on')
    await query(settings, endConnections, [settings.database])
    await expect(append(one, 2)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('refuses writes') as string,
    })
    expect(one.problem()).toContain('refuses writes')
    expect(await one.lookups.audit.find(1)).toBeDefined()
    // As after a failover: connections that are still open lead to a server that takes no writes.
    await setReadOnly('off')
    await append(one, 3)
    await expect.poll(() => one.problem()).toBeUndefined()
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 2 })
  })

  it('is told what it misses, where it is reached in the wrong way', async () => {
    const name = randomUUID().slice(0, 8)
    const settings = await createDatabase(await databaseOf(name), `empty_${name}`)
    const user = `lost_${name}`
    await query(settings, `create role ${user} login password 'loopback-only'`)
    await query(settings, `alter role ${user} set search_path = nowhere`)
    const wrong: readonly (readonly [string, Partial<PostgresSettings>])[] = [
      ['set store.password', { password: undefined }],
      ['refuses the user or the password', { password: 'another' }],
      ['there is no such database', { database: 'missing' }],
      ['search_path names no existing schema', { user }],
    ]
    for (const [message, changed] of wrong) {
      await expect(migrate({ ...settings, ...changed }, serviceSchema)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining(message) as string,
      })
    }
  })

  it('refuses writes while its disk is full, says so, and breaks nothing', async () => {
    const { one, other, name } = await openTwo(open)
    const settings = await databaseOf(name)
    await append(one, 1)
    await query(
      settings,
      `create function full_disk() returns trigger language plpgsql as
         $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
       create trigger full_disk before insert on audit for each statement execute function full_disk()`,
    )
    for (const store of [one, other]) {
      await expect(append(store, 2)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('disk is full') as string,
      })
    }
    await query(settings, 'drop trigger full_disk on audit')
    await append(other, 3)
    expect(one.problem()).toContain('disk is full')
    await append(one, 4)
    expect(one.problem()).toBeUndefined()
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 3 })
  })

  it('says so when it accepts no more connections, and works when it does', { timeout: 30_000 }, async () => {
    const name = randomUUID()
    const settings = await databaseOf(name)
    const user = `few_${name.slice(0, 8)}`
    await query(settings, `create role ${user} login password 'loopback-only' connection limit 3`)
    await query(settings, `grant all on all tables in schema public to ${user}`)
    await query(settings, `grant all on all sequences in schema public to ${user}`)
    const few = { ...settings, user }
    const opened = await openPostgresStore({ settings: few, connections: 4, operations: SERVICE_OPERATIONS })
    onTestFinished(() => opened.close())
    const asking = Array.from({ length: 20 }, () => opened.lookups.audit.end().then(() => 'answered', String))
    const answers = new Set(await Promise.all(asking))
    expect([...answers].filter((answer) => !/^answered$|accepts no more connections/.test(answer))).toEqual(
      [],
    )
    await expect(
      openPostgresStore({ settings: few, connections: 4, operations: SERVICE_OPERATIONS }),
    ).rejects.toThrow('accepts no more connections')
    await query(settings, `alter role ${user} connection limit 20`)
    expect(await opened.lookups.audit.end()).toMatchObject({ seq: 0 })
    await expect.poll(() => opened.problem()).toBeUndefined()
  })
})
