import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { AuditEntry, ChainEnd } from '../../../../src/store/ports/audit-store.js'
import type { Operation } from '../../../../src/store/ports/operation.js'
import type { WriteOperation } from '../../../../src/store/ports/transaction.js'
import {
  indexColumns,
  indexText,
  settleEventIds,
} from '../../../../src/store/sqlite/maintenance/maintenance-operations.js'
import type { SqliteTransaction } from '../../../../src/store/sqlite/maintenance/sqlite-context.js'
import { appendAll, entries, entry, filledTrail, retain, seqsOf } from '../../../support/filled-trail.js'
import { useSqliteStore } from '../../../support/service-store.js'
import type { TestSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()
const filled = (count: number): Promise<TestSqliteStore> => filledTrail(open(), count)
const START: ChainEnd = { seq: 0, hash: '0'.repeat(64) }

const checkpoint: WriteOperation<ChainEnd, boolean> = {
  name: 'test.checkpoint',
  apply: async ({ audit }, end) => {
    await audit.addCheckpoint({ ...end, atMs: 1, reason: 'request' })
    return true
  },
}

/** Changes the file directly, with the triggers removed. */
function tamper(store: TestSqliteStore, sql: string): void {
  const database = new Database(join(store.dataDir, 'tidegate.db'))
  database.exec('drop trigger audit_never_changes; drop trigger audit_never_shrinks')
  database.exec(sql)
  database.close()
}

describe('the chain', () => {
  it('is right over all records, and a link that is asked for is given', async () => {
    const store = await filled(50)
    const check = await store.lookups.audit.check(START, 1000, [7])
    expect(check).toMatchObject({ checked: 50, end: await store.lookups.audit.end() })
    expect(check.broken).toBeUndefined()
    expect(check.links).toEqual([{ seq: 7, hash: (await store.lookups.audit.find(7))?.hash }])
  })

  it('can be followed in steps', async () => {
    const { lookups } = await filled(25)
    const first = await lookups.audit.check(START, 10, [])
    const second = await lookups.audit.check(first.end, 100, [])
    expect([first.end.seq, second.end]).toEqual([10, await lookups.audit.end()])
  })

  it.each([
    ['a changed column', "update audit set user = 'eve' where seq = 12", 12, /changed/],
    ['a changed time', 'update audit set time_ms = time_ms + 1 where seq = 1', 1, /changed/],
    ['a changed body', "update audit set body = x'00' where seq = 20", 20, /changed/],
    ['text moved between columns', "update audit set kind = '', user = kind where seq = 3", 3, /changed/],
    ['a removed record', 'delete from audit where seq = 9', 9, /^it is missing$/],
    [
      'removed records',
      'delete from audit where seq between 9 and 11',
      9,
      /^it is missing, and all others up to record 11$/,
    ],
    [
      'a removed beginning',
      'delete from audit where seq < 3',
      1,
      /^it is missing, and all others up to record 2$/,
    ],
    [
      "two records in each other's place",
      'update audit set seq = -5 where seq = 5; update audit set seq = 5 where seq = 6; update audit set seq = 6 where seq = -5',
      5,
      /changed/,
    ],
    [
      'a record with a hash of its own making',
      "update audit set user = 'eve', hash = zeroblob(32) where seq = 8",
      8,
      /changed/,
    ],
  ])('names the first bad record after %s', async (_, sql, seq, problem) => {
    const store = await filled(25)
    tamper(store, sql)
    const { broken } = await store.lookups.audit.check(START, 1000, [])
    expect(broken?.seq).toBe(seq)
    expect(broken?.problem).toMatch(problem)
  })

  it('keeps what it covers apart, whatever the texts hold', async () => {
    const store = await open()
    await store.writer.run(appendAll, [
      entry(1, { user: 'a\u001fb\u001e', status: 'x\ud800y', eventId: 'id\ud800', stage: '' }),
      entry(2, { user: 'é', kind: 'k'.repeat(2000) }),
    ])
    expect(await store.lookups.audit.check(START, 10, [])).toMatchObject({ checked: 2, broken: undefined })
    expect(await store.lookups.audit.find(1)).toMatchObject({ user: 'a b ', status: 'x\ufffdy' })
    const again = await store.writer.run(appendAll, [entry(1, { eventId: 'id\ud800' })])
    expect(again).toEqual([1])
  })
})

describe('the database', () => {
  it.each([
    'update audit set user = null where seq = 3',
    'delete from audit where seq = 3',
    'delete from audit_checkpoints',
    'update audit_checkpoints set seq = 1',
    'insert or replace into audit select * from audit where seq = 3',
    'replace into audit_checkpoints select * from audit_checkpoints',
  ])('refuses %s', async (sql) => {
    const store = await filled(3)
    const { seq, hash } = await store.lookups.audit.end()
    await store.writer.run(checkpoint, { seq, hash })
    const database = new Database(join(store.dataDir, 'tidegate.db'))
    try {
      expect(() => database.exec(sql)).toThrow(/append-only/)
    } finally {
      database.close()
    }
  })

  it('refuses a checkpoint with a hash that the chain does not have', async () => {
    const store = await filled(3)
    const end = { seq: 2, hash: 'ab'.repeat(32) }
    await expect(store.writer.run(retain, end)).rejects.toMatchObject({ kind: 'conflict' })
    expect(await seqsOf(store, {})).toHaveLength(3)
  })
})

describe('retention', () => {
  it('removes a prefix, goes on from its last link, and takes its events again', async () => {
    const store = await filled(20)
    await store.writer.run(indexColumns, { records: 100, values: 10_000 })
    await store.writer.run(indexText, { limit: 10, maxBytes: 1_000_000 })
    const { hash = '' } = (await store.lookups.audit.find(12)) ?? {}
    await store.writer.run(retain, { seq: 12, hash })
    expect(await seqsOf(store, { application: 'app-1' })).toEqual([19, 16, 13])
    const check = await store.lookups.audit.check({ seq: 12, hash }, 100, [])
    expect(check).toMatchObject({ checked: 8, broken: undefined })
    expect(await store.writer.run(appendAll, [entry(5)])).toEqual([21])
    expect(await store.lookups.audit.size()).toMatchObject({ firstSeq: 13, endSeq: 21 })
  })

  it('may leave nothing but the checkpoint, and the next record is linked to it', async () => {
    const store = await filled(4)
    const end = await store.lookups.audit.end()
    await store.writer.run(retain, end)
    await store.writer.run(appendAll, [entry(9)])
    expect(await store.lookups.audit.check(end, 10, [])).toMatchObject({ checked: 1, broken: undefined })
  })

  it('finds the last record before a time', async () => {
    const store = await filled(5)
    const { recordedMs = 0 } = (await store.lookups.audit.find(5)) ?? {}
    expect(await store.lookups.audit.lastRemovable(recordedMs + 1)).toBe(5)
    expect(await store.lookups.audit.lastRemovable(1)).toBe(0)
  })
})

describe('event ids', () => {
  const settle = (store: TestSqliteStore): Promise<boolean> => store.writer.run(settleEventIds, { limit: 7 })
  const settleAndFail: Operation<SqliteTransaction, number, never> = {
    name: 'test.settle-and-fail',
    apply: ({ trailIndexes }, limit) => {
      trailIndexes.eventIds.settle(limit)
      return Promise.reject(new Error('no'))
    },
  }
  const seqsAgain = async (store: TestSqliteStore): Promise<number[]> =>
    store.writer.run(appendAll, entries(30))
  const expected = Array.from({ length: 30 }, (_, index) => index + 1)

  it('are known in memory, while they are moved to their table, and there', async () => {
    const store = await filled(30)
    expect(await seqsAgain(store)).toEqual(expected)
    expect(await settle(store)).toBe(true)
    expect(await seqsAgain(store)).toEqual(expected)
    while (await settle(store));
    expect(await store.lookups.maintenance.progress()).toMatchObject({ keysSeq: 30 })
    expect(await seqsAgain(store)).toEqual(expected)
    expect(await seqsOf(store, { eventId: 'event-9' })).toEqual([9])
  })

  it('are known after a restart at any of these points', async () => {
    for (const steps of [0, 2, 9]) {
      const store = await filled(30)
      for (let step = 0; step < steps; step += 1) await settle(store)
      await store.close()
      const again = await open(store.dataDir)
      expect(await seqsAgain(again)).toEqual(expected)
    }
  })

  it('are known when a move was undone, begun or ended', async () => {
    const store = await filled(30)
    await expect(store.writer.run(settleAndFail, 7)).rejects.toThrow()
    expect(await seqsAgain(store)).toEqual(expected)
    await expect(store.writer.run(settleAndFail, 100)).rejects.toThrow()
    expect(await seqsAgain(store)).toEqual(expected)
    while (await settle(store));
    expect(await seqsAgain(store)).toEqual(expected)
  })

  it('are looked for in no record that was looked at before, though it has none', async () => {
    const store = await filled(2)
    await store.writer.run(
      appendAll,
      entries(5).map((given) => ({ ...given, eventId: undefined })),
    )
    while (await settle(store));
    expect(await store.lookups.maintenance.progress()).toMatchObject({ keysSeq: 7, endSeq: 7 })
    expect(await settle(store)).toBe(false)
  })

  it('of a record that was undone are free again', async () => {
    const store = await filled(3)
    const appendAndFail: WriteOperation<AuditEntry, never> = {
      name: 'test.append-and-fail',
      apply: async ({ audit }, given) => {
        await audit.append(given)
        throw new Error('no')
      },
    }
    await expect(store.writer.run(appendAndFail, entry(4))).rejects.toThrow()
    expect(await store.writer.run(appendAll, [entry(5), entry(4), entry(4)])).toEqual([4, 5, 5])
  })
})
