import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { saveGateChanges } from '../../../src/gates/definitions/declare-gates.js'
import { reviewInstance } from '../../../src/gates/reviewing/review-instance.js'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import { recordAttempt } from '../../../src/outbox/outbox-operations.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import type { WriteOperation } from '../../../src/store/ports/transaction.js'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { appendAll, entry } from '../../support/filled-trail.js'
import { makeGate, makeTrigger, NOW_MS, triggered } from '../../support/gates.js'
import { databaseOf, openTestDatabase } from '../../support/postgres/test-database.js'
import { query } from '../../support/postgres/postgres-server.js'
import { enqueue, leasing, openTwo, useReplicaStores } from '../../support/postgres/replica-stores.js'

const open = useReplicaStores()
const twoReplicas = (name?: string) => openTwo(open, name)

/** Each alone has broken a program that took its default for granted. */
const STRANGE_SETTINGS = [
  "default_transaction_isolation = 'serializable'",
  'array_nulls = off',
  "bytea_output = 'escape'",
  "datestyle = 'German'",
  "default_text_search_config = 'pg_catalog.german'",
  'extra_float_digits = -3',
  "intervalstyle = 'sql_standard'",
  'standard_conforming_strings = off',
  "statement_timeout = '100ms'",
  "timezone = 'America/St_Johns'",
  'transform_null_equals = on',
]

const gate = makeGate({ approvals: 2, triggererMayApprove: true })
/**
 * Ends the connections that wait between two statements of a transaction, as the server does with
 * those that wait too long.
 */
async function endIdleTransactions(settings: PostgresSettings): Promise<void> {
  const idle = "pg_stat_activity where datname = current_database() and state = 'idle in transaction'"
  await query(settings, `select pg_terminate_backend(pid) from ${idle}`)
  await expect.poll(() => query(settings, `select pid from ${idle}`)).toEqual([])
  await new Promise((resolve) => setTimeout(resolve, 50))
}

describe('two replicas over one database', () => {
  it('make one instance of a thousand equal triggers at both at once', async () => {
    const { one, other } = await twoReplicas()
    await one.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate }])
    const triggering = Array.from({ length: 1000 }, (_, index) =>
      (index % 2 === 0 ? one : other).writer.run(triggerGate, makeTrigger()),
    )
    const instances = (await Promise.all(triggering)).map(({ instance }) => instance.id)
    expect(new Set(instances).size).toBe(1)
    expect(await other.lookups.gates.listInstances({ order: 'newest', limit: 10 })).toHaveLength(1)
  })

  it('see what the other one did, and keep what it is, whatever the database is set to', async () => {
    const name = randomUUID()
    const settings = await databaseOf(name)
    for (const setting of STRANGE_SETTINGS)
      await query(settings, `alter database "${settings.database}" set ${setting}`)
    const { one, other } = await twoReplicas(name)
    const appendEach = async (store: ServiceStore, start: number): Promise<void> => {
      const columns = { user: undefined, eventId: undefined }
      for (let index = 0; index < 30; index++)
        await store.writer.run(appendAll, [entry(start + index, index % 3 === 0 ? columns : {})])
    }
    await Promise.all([appendEach(one, 0), appendEach(other, 100)])
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 60 })
  })

  it('give different executions different numbers', async () => {
    const { one, other } = await twoReplicas()
    await one.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate }])
    const triggering = Array.from({ length: 40 }, (_, index) =>
      (index % 2 === 0 ? one : other).writer.run(triggerGate, makeTrigger({ executionId: `e${index}` })),
    )
    const instances = (await Promise.all(triggering)).map(({ instance }) => instance.id)
    expect(new Set(instances).size).toBe(40)
  })

  it('count each person of a quorum once, and call back once', async () => {
    const { one, other } = await twoReplicas()
    const { id: instanceId } = await triggered(one.writer, gate)
    const reviews = Array.from({ length: 40 }, (_, index) => {
      const attempt = {
        person: `person-${index % 4}`,
        groups: [],
        action: 'approve' as const,
        comment: '',
        timeMs: NOW_MS + 1,
      }
      return (index % 2 === 0 ? one : other).writer
        .run(reviewInstance, { instanceId, attempt, origin: undefined })
        .then(({ refusal }) => refusal)
    })
    const accepted = (await Promise.all(reviews)).filter((refusal) => refusal === undefined)
    expect(accepted).toHaveLength(2)
    expect(await one.lookups.gates.reviewsOf(instanceId)).toHaveLength(2)
    expect((await other.lookups.gates.findInstance(instanceId))?.state).toBe('approved')
    expect(await one.lookups.outbox.list({ limit: 10 })).toHaveLength(1)
  })

  it('keep an event once, and one chain of all records', async () => {
    const { one, other } = await twoReplicas()
    const appending = Array.from({ length: 60 }, (_, index) =>
      (index % 2 === 0 ? one : other).writer.run(appendAll, [entry(index % 30), entry(1000 + index)]),
    )
    const seqs = (await Promise.all(appending)).map(([seq]) => seq)
    for (let index = 0; index < 30; index++) expect(seqs[index]).toBe(seqs[index + 30])
    const found = await verifyTrail({ reader: one.reader })
    expect(found).toMatchObject({ isIntact: true, checked: 90 })
  })

  it('know an event that the other one kept, among new ones, and one that comes twice at once', async () => {
    const { one, other } = await twoReplicas()
    const [[kept]] = await Promise.all([other.writer.run(appendAll, [entry(7)])])
    const batch = [[entry(1)], [entry(2), entry(7)], [entry(3), entry(3)], [entry(7)], [entry(4)]]
    for (const round of [1, 2]) {
      const seqs = await Promise.all(batch.map((entries) => one.writer.run(appendAll, entries)))
      expect(seqs[1]?.[1], `round ${round}`).toBe(kept)
      expect(seqs[3]).toEqual([kept])
      expect(seqs[2]?.[0]).toBe(seqs[2]?.[1])
      expect(new Set(seqs.flat()).size).toBe(5)
    }
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 5 })
  })

  it('let no operation fail for having taken an event for a new one', async () => {
    const { one, other } = await twoReplicas()
    await other.writer.run(appendAll, [entry(7)])
    const strict: WriteOperation<undefined, string> = {
      name: 'test.strict',
      apply: async ({ audit }) => {
        const { isNew } = await audit.append(entry(7))
        if (isNew) throw new Error('it cannot be new')
        return 'known'
      },
    }
    expect(await one.writer.run(strict, undefined)).toBe('known')
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 1 })
  })

  it('look for events all at once, or one by one for a while after one came twice', async () => {
    const { one } = await twoReplicas()
    for (let index = 0; index < 60; index++) {
      const twice = index % 25 === 24 ? [entry(0)] : []
      await one.writer.run(appendAll, [entry(index), ...twice])
    }
    // More than are written at a time, and the first of them once more.
    const many = Array.from({ length: 450 }, (_, index) => entry(1000 + index))
    const seqs = await one.writer.run(appendAll, [...many, entry(1000)])
    expect(seqs.at(-1)).toBe(seqs[0])
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 510 })
  })

  it('never lease a message twice, nor more of one receiver than one may have over all', async () => {
    const { one, other } = await twoReplicas()
    await one.writer.run(enqueue, { url: 'http://receiver.example/a', count: 20 })
    const mostOfOne = 8
    const held = [one, other].map((store) => ({ store, ids: [] as number[] }))
    const leaseMore = async ({ store, ids }: (typeof held)[number]): Promise<number> => {
      const underWay = { 'http://receiver.example': ids.length }
      const { messages } = await leasing(store, mostOfOne, underWay)
      ids.push(...messages.map(({ id }) => id))
      return messages.length
    }
    for (let turn = 0; turn < 2; turn++) await Promise.all(held.map(leaseMore))
    for (const replica of held) await leaseMore(replica)
    const ids = held.flatMap((replica) => replica.ids)
    expect(ids).toHaveLength(new Set(ids).size)
    // Two that look at the same moment may each take as many as one may have.
    expect(ids.length).toBeGreaterThanOrEqual(mostOfOne)
    expect(ids.length).toBeLessThanOrEqual(2 * mostOfOne)
    for (const replica of held) expect(await leaseMore(replica)).toBe(0)
  })

  it('take up at once what one had under way that ended in order, and keep its webhook-id', async () => {
    const { one, other } = await twoReplicas()
    await one.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 })
    const [first] = (await leasing(one)).messages
    expect((await leasing(other)).messages).toEqual([])
    await one.close()
    const [again] = (await leasing(other)).messages
    expect(again?.webhookId).toBe(first?.webhookId)
  })

  it('take up what one had under way that died, and let it not undo what came of it then', async () => {
    const { one, other, name } = await twoReplicas()
    await one.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 })
    const [first] = (await leasing(one)).messages
    // As if nothing had been heard of it for some time.
    await query(
      await databaseOf(name),
      "update leases set until = now() - interval '1 second' where kind = 'replica'",
    )
    const [again] = (await leasing(other)).messages
    expect(again?.id).toBe(first?.id)
    const id = again?.id ?? 0
    const late = { id, attempts: 1, state: 'given_up', nextAttemptMs: NOW_MS, settledMs: NOW_MS } as const
    await one.writer.run(recordAttempt, { progress: late, entry: undefined })
    expect((await other.lookups.outbox.find(id))?.state).toBe('pending')
    const delivered = { ...late, state: 'delivered' } as const
    await other.writer.run(recordAttempt, { progress: delivered, entry: undefined })
    expect((await one.lookups.outbox.find(id))?.state).toBe('delivered')
  })

  it('give a piece of work to one of them, and to the other when that one is done or dead', async () => {
    const { one, other, name } = await twoReplicas()
    const lease = await one.leases.take('work', '1')
    expect(lease).toBeDefined()
    expect(await other.leases.take('work', '1')).toBeUndefined()
    expect(await one.leases.take('work', '1')).toBeUndefined()
    await lease?.release()
    const taken = await other.leases.take('work', '1')
    expect(taken).toBeDefined()
    await query(await databaseOf(name), "update leases set until = now() - interval '1 second'")
    const overtaken = await one.leases.take('work', '1')
    expect(overtaken).toBeDefined()
    // The other one notices with its next sign of life.
    await expect.poll(() => taken?.lost.aborted).toBe(true)
  })

  it('share a secret that the first one made', async () => {
    const { one, other } = await twoReplicas()
    const secrets = await Promise.all(
      [one, other].map(async (store, index) => store.sharing?.secret('callback', () => `secret-${index}`)),
    )
    expect(secrets[0]).toMatch(/^secret-/)
    expect(secrets[1]).toBe(secrets[0])
  })

  it('undo alone what raised after it had written, whatever ran next to it', async () => {
    const { one } = await twoReplicas()
    const failing: WriteOperation<string, never> = {
      name: 'test.failing',
      apply: async ({ audit, gates }, name) => {
        await gates.saveGate(makeGate({ id: 99, name }))
        await audit.append(entry(500))
        throw new Error(name)
      },
    }
    const results = await Promise.allSettled([
      one.writer.run(appendAll, [entry(1)]),
      one.writer.run(failing, 'first'),
      one.writer.run(appendAll, [entry(2)]),
      one.writer.run(failing, 'second'),
      one.writer.run(appendAll, [entry(3)]),
    ])
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await one.lookups.gates.findGate(99)).toBeUndefined()
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 3 })
  })

  it('keeps all of a transaction or nothing when its connection is lost between two statements', async () => {
    const { one, name } = await twoReplicas()
    const settings = await databaseOf(name)
    let tries = 0
    const losing: WriteOperation<undefined, void> = {
      name: 'test.losing',
      apply: async ({ gates }) => {
        await gates.saveGate(makeGate({ id: 1 }))
        if (++tries === 1) await endIdleTransactions(settings)
        await gates.saveGate(makeGate({ id: 2 }))
      },
    }
    await one.writer.run(losing, undefined)
    const gates = await one.lookups.gates.listGates()
    expect({ tries, ids: gates.map(({ id }) => id) }).toEqual({ tries: 2, ids: [1, 2] })
  })

  it('acknowledges nothing of a transaction that a call made the server give up without saying so', async () => {
    const { one } = await twoReplicas()
    const hiding: WriteOperation<undefined, void> = {
      name: 'test.hiding',
      apply: async ({ gates }) => {
        const review = { person: 'a', action: 'approve', comment: '', timeMs: 1 } as const
        await gates.addReview(404, review).catch(() => undefined)
      },
    }
    const results = await Promise.allSettled([
      one.writer.run(enqueue, { url: 'http://receiver.example/a', count: 1 }),
      one.writer.run(hiding, undefined),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(await one.lookups.outbox.list({ limit: 10 })).toHaveLength(1)
  })
})

describe('the database itself', () => {
  it('refuses that records of the trail are changed or removed', async () => {
    const { one, name } = await twoReplicas()
    await one.writer.run(appendAll, [entry(1), entry(2)])
    const settings = await databaseOf(name)
    for (const text of ["update audit set kind = 'x'", 'delete from audit', 'truncate audit']) {
      await expect(query(settings, text)).rejects.toThrow('append-only')
    }
  })

  it('names the first record that was changed behind its back', async () => {
    const { one, name } = await twoReplicas()
    await one.writer.run(appendAll, [entry(1), entry(2), entry(3)])
    const settings = await databaseOf(name)
    await query(settings, 'alter table audit disable trigger all')
    await query(settings, 'update audit set "user" = \'eve\' where seq = 2')
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: false, firstBadSeq: 2 })
  })

  it('takes no writes of a release that is too old for its schema, and says so', async () => {
    const { one, name } = await twoReplicas()
    const settings = await databaseOf(name)
    await query(settings, 'update store_schema set version = 99, oldest_writer = 99')
    await expect(one.writer.run(appendAll, [entry(1)])).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('newer release') as string,
    })
    await expect(openTestDatabase(name)).rejects.toThrow('upgrade this replica')
    expect(await query(settings, 'select 1 from audit')).toEqual([])
    // One that only adds rows blocks nobody.
    await query(settings, 'update store_schema set oldest_writer = 1')
    await one.writer.run(appendAll, [entry(1)])
    await (await openTestDatabase(name)).close()
  })

  it('takes what no text here can hold', async () => {
    const { one } = await twoReplicas()
    const odd = entry(1, { user: 'a\0b', eventId: 'x\0y', body: Buffer.from('{"a":"\\u0000 \ud800"}') })
    await one.writer.run(appendAll, [odd])
    await one.writer.run(saveGateChanges, [
      { kind: 'gate.declared', gate: makeGate({ name: 'nul \0 and \ud800' }) },
    ])
    expect(await verifyTrail({ reader: one.reader })).toMatchObject({ isIntact: true, checked: 2 })
  })
})
