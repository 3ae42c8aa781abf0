import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { AuditEntry, AuditFilter, ChainEnd } from '../../../../src/store/audit-store.js'
import type { WriteOperation } from '../../../../src/store/transaction.js'
import { useServiceStore } from '../../../support/service-store.js'
import type { TestStore } from '../../../support/service-store.js'

const open = useServiceStore()
const START: ChainEnd = { seq: 0, hash: '0'.repeat(64) }
const HOUR = 3_600_000

const appendAll: WriteOperation<readonly AuditEntry[], number[]> = {
  name: 'test.append-all',
  apply: async ({ audit }, entries) => {
    const seqs = []
    for (const entry of entries) seqs.push((await audit.append(entry)).seq)
    return seqs
  },
}
const indexColumns: WriteOperation<number, boolean> = {
  name: 'test.index-columns',
  apply: ({ audit }, records) => audit.indexColumns(records, 10_000),
}
const enterSome: WriteOperation<number, boolean> = {
  name: 'test.enter-some',
  apply: ({ audit }, values) => audit.indexColumns(100, values),
}
const indexText: WriteOperation<number, number> = {
  name: 'test.index-text',
  apply: ({ audit }, limit) => audit.indexText(limit, 1_000_000),
}
const checkpoint: WriteOperation<ChainEnd, boolean> = {
  name: 'test.checkpoint',
  apply: async ({ audit }, end) => {
    await audit.addCheckpoint({ ...end, atMs: 1, reason: 'request' })
    return true
  },
}
const retain: WriteOperation<ChainEnd, number> = {
  name: 'test.retain',
  apply: async ({ audit }, end) => {
    await audit.addCheckpoint({ ...end, atMs: 1, reason: 'retention' })
    return audit.deleteThrough(end.seq, 1000)
  },
}

const entry = (index: number, columns: Partial<AuditEntry> = {}): AuditEntry => ({
  timeMs: HOUR + index,
  source: 'event',
  kind: index % 2 === 0 ? 'even' : 'odd',
  application: `app-${index % 3}`,
  executionId: `run-${Math.floor(index / 4)}`,
  eventId: `event-${index}`,
  body: Buffer.from(JSON.stringify({ index, words: `number ${index} Zürich`, note: 'a\nline' })),
  ...columns,
})

const entries = (count: number): AuditEntry[] => Array.from({ length: count }, (_, index) => entry(index + 1))

async function filled(count: number): Promise<TestStore> {
  const store = await open()
  await store.writer.run(appendAll, entries(count))
  return store
}

async function seqsOf(store: TestStore, filter: AuditFilter, limit = 100): Promise<number[]> {
  const records = await store.lookups.audit.page({ filter, order: 'newest_first', limit })
  return records.map(({ seq }) => seq)
}

/** Changes the file behind the service's back, with the triggers out of the way. */
function tamper(store: TestStore, sql: string): void {
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
    await store.writer.run(indexColumns, 100)
    await store.writer.run(indexText, 10)
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
    expect(await store.lookups.audit.lastSeqBefore(recordedMs + 1)).toBe(5)
    expect(await store.lookups.audit.lastSeqBefore(1)).toBe(0)
  })
})

describe('search by columns', () => {
  it.each([0, 7, 30])('gives the same whether or not the first %i records are indexed', async (indexed) => {
    const store = await filled(30)
    await store.writer.run(indexColumns, indexed)
    expect(await seqsOf(store, { application: 'app-2', kind: 'odd' })).toEqual([29, 23, 17, 11, 5])
    expect(await seqsOf(store, { executionId: 'run-3' })).toEqual([15, 14, 13, 12])
    expect(await seqsOf(store, { user: 'nobody' })).toEqual([])
    expect(await seqsOf(store, { eventId: 'event-4' })).toEqual([4])
    expect(await seqsOf(store, { eventId: 'event-4', kind: 'odd' })).toEqual([])
    const bounds = { fromMs: HOUR + 5, toMs: HOUR + 9 }
    expect(await seqsOf(store, bounds)).toEqual([8, 7, 6, 5])
    expect(await seqsOf(store, { ...bounds, source: 'event', kind: 'even' })).toEqual([8, 6])
  })

  it('gives each record once while the values of some are being entered', async () => {
    const store = await filled(30)
    await store.writer.run(indexColumns, 10)
    for (let isEntering = true; isEntering;) {
      isEntering = await store.writer.run(enterSome, 7)
      expect(await seqsOf(store, { application: 'app-2', kind: 'odd' })).toEqual([29, 23, 17, 11, 5])
    }
    expect(await store.lookups.audit.progress()).toMatchObject({ columnsSeq: 30 })
  })

  it('enters nothing of records that retention has removed meanwhile', async () => {
    const store = await filled(20)
    await store.writer.run(enterSome, 7)
    const { hash = '' } = (await store.lookups.audit.find(12)) ?? {}
    await store.writer.run(retain, { seq: 12, hash })
    await store.writer.run(indexColumns, 100)
    expect(await seqsOf(store, { application: 'app-1' })).toEqual([19, 16, 13])
    const rest = new Database(join(store.dataDir, 'tidegate.db'), { readonly: true })
    expect(rest.prepare('select count(*) from audit_postings where seq <= 12').pluck().get()).toBe(0)
    rest.close()
  })

  it.each(['newest_first', 'oldest_first'] as const)('pages %s without gap or repeat', async (order) => {
    const store = await filled(30)
    await store.writer.run(indexColumns, 20)
    const seen: number[] = []
    let after
    for (;;) {
      const filter = { application: 'app-0' }
      const page = await store.lookups.audit.page({ filter, order, limit: 3, ...(after && { after }) })
      seen.push(...page.map(({ seq }) => seq))
      after = page.at(-1)
      if (after === undefined) break
    }
    const expected = [3, 6, 9, 12, 15, 18, 21, 24, 27, 30]
    expect(seen).toEqual(order === 'oldest_first' ? expected : expected.reverse())
  })
})

describe('event ids', () => {
  const settle: WriteOperation<number, boolean> = {
    name: 'test.settle',
    apply: ({ audit }, limit) => audit.settleEventIds(limit, 10),
  }
  const settleAndFail: WriteOperation<number, never> = {
    name: 'test.settle-and-fail',
    apply: async ({ audit }, limit) => {
      await audit.settleEventIds(limit, 10)
      throw new Error('no')
    },
  }
  const seqsAgain = async (store: TestStore): Promise<number[]> => store.writer.run(appendAll, entries(30))
  const expected = Array.from({ length: 30 }, (_, index) => index + 1)

  it('are known in memory, while they are moved to their table, and there', async () => {
    const store = await filled(30)
    expect(await seqsAgain(store)).toEqual(expected)
    expect(await store.writer.run(settle, 7)).toBe(true)
    expect(await seqsAgain(store)).toEqual(expected)
    while (await store.writer.run(settle, 7));
    expect(await store.lookups.audit.progress()).toMatchObject({ keysSeq: 30 })
    expect(await seqsAgain(store)).toEqual(expected)
    expect(await seqsOf(store, { eventId: 'event-9' })).toEqual([9])
  })

  it('are known after a restart at any of these points', async () => {
    for (const steps of [0, 2, 9]) {
      const store = await filled(30)
      for (let step = 0; step < steps; step += 1) await store.writer.run(settle, 7)
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
    while (await store.writer.run(settle, 7));
    expect(await seqsAgain(store)).toEqual(expected)
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

describe('search by free text', () => {
  const words = async (store: TestStore, ...given: string[]): Promise<number[]> => {
    const { records } = await store.lookups.audit.textPage({ filter: {}, words: given, limit: 100 })
    return records.map(({ seq }) => seq)
  }

  it('finds words as they are spoken, their beginnings, and what stands behind an escape', async () => {
    const store = await filled(12)
    await store.writer.run(indexText, 100)
    expect(await words(store, 'NUMBER', '11')).toEqual([11])
    expect(await words(store, 'zurich', '7')).toEqual([7])
    expect(await words(store, 'zur*', '1*')).toEqual([12, 11, 10, 1])
    expect(await words(store, 'line', '3')).toEqual([3])
    expect(await words(store, 'missing')).toEqual([])
  })

  it('takes the syntax of the index as text', async () => {
    const store = await filled(3)
    await store.writer.run(indexText, 100)
    for (const word of ['"', 'NOT', 'body:1', 'a" OR "b', '*', '(', '^x', '']) {
      expect(await words(store, word, 'missing')).toEqual([])
    }
  })

  it('goes together with columns, times and paging', async () => {
    const store = await filled(12)
    await store.writer.run(indexText, 100)
    const query = { words: ['number'], limit: 2 }
    const page = await store.lookups.audit.textPage({ ...query, filter: { application: 'app-1' } })
    expect(page).toMatchObject({ records: [{ seq: 10 }, { seq: 7 }], nextSeq: 7 })
    const rest = await store.lookups.audit.textPage({
      ...query,
      filter: { application: 'app-1', kind: 'even', toMs: HOUR + 6 },
      beforeSeq: 7,
    })
    expect(rest).toEqual({ records: [expect.objectContaining({ seq: 4 })] })
  })
})
