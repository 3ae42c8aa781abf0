import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { ChainEnd } from '../../../../src/store/ports/audit-store.js'
import type { WriteOperation } from '../../../../src/store/ports/transaction.js'
import { textTable } from '../../../../src/store/sqlite/audit/audit-text-parts.js'
import { indexText, mergeText } from '../../../../src/store/sqlite/maintenance/maintenance-operations.js'
import { useSqliteStore } from '../../../support/service-store.js'
import type { TestSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()
const PART = 5000

/** Appends records, each with the word "here" and a word derived from its number. */
const append: WriteOperation<{ readonly from: number; readonly to: number }, null> = {
  name: 'test.append',
  apply: async ({ audit }, { from, to }) => {
    for (let index = from; index <= to; index += 1) {
      await audit.append({
        timeMs: index,
        source: 'event',
        kind: 'k',
        body: Buffer.from(`{"here":"own${index}"}`),
      })
    }
    return null
  },
}

async function fill(store: TestSqliteStore, from: number, to: number): Promise<void> {
  await store.writer.run(append, { from, to })
  while ((await store.writer.run(indexText, { limit: 500, maxBytes: 1e9 })) > 0);
}

/** Removes the records up to a link of the chain, in batches like retention. */
const retain: WriteOperation<ChainEnd, null> = {
  name: 'test.retain',
  apply: async ({ audit }, end) => {
    await audit.addCheckpoint({ ...end, atMs: 1, reason: 'retention' })
    while ((await audit.deleteThrough(end.seq, 50)).isMoreLeft);
    return null
  },
}

async function removeThrough(store: TestSqliteStore, seq: number): Promise<void> {
  const { hash = '' } = (await store.lookups.audit.find(seq)) ?? {}
  await store.writer.run(retain, { seq, hash })
}

/** The numbers of all records that a word finds, page by page. */
async function found(store: TestSqliteStore, word: string, limit = 1000): Promise<number[]> {
  const seqs: number[] = []
  let beforeSeq: number | undefined
  do {
    const page = await store.lookups.audit.textPage({ filter: {}, words: [word], limit, beforeSeq })
    seqs.push(...page.records.map(({ seq }) => seq))
    beforeSeq = page.nextSeq
  } while (beforeSeq !== undefined)
  return seqs
}

function query<Result>(dataDir: string, ask: (database: Database.Database) => Result): Result {
  const database = new Database(join(dataDir, 'tidegate.db'))
  try {
    return ask(database)
  } finally {
    database.close()
  }
}

const tablesOf = (dataDir: string): unknown[] =>
  query(dataDir, (database) =>
    database
      .prepare("select name from sqlite_schema where sql like 'create virtual table%' order by name")
      .pluck()
      .all(),
  )

const downFrom = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index)

describe('the parts of the index of free text', () => {
  it('begin after every 5,000 records, and a search goes through all of them, the newest first', async () => {
    const store = await open()
    await fill(store, 1, 2 * PART + 500)
    expect(tablesOf(store.dataDir)).toEqual(['audit_text_1', 'audit_text_2', 'audit_text_3'])
    expect(await found(store, 'here')).toEqual(downFrom(2 * PART + 500, 1))
    for (const seq of [1, PART, PART + 1, 2 * PART + 500])
      expect(await found(store, `own${seq}`)).toEqual([seq])
  })

  it('look at no more than 5,000 records for a page, of however many parts they are', async () => {
    const store = await open()
    await fill(store, 1, PART + 600)
    const page = await store.lookups.audit.textPage({ filter: { kind: 'other' }, words: ['here'], limit: 10 })
    expect(page).toEqual({ records: [], nextSeq: 601 })
  })

  it('are dropped with the last of their records, and until then a removed record is not found', async () => {
    const store = await open()
    await fill(store, 1, 2 * PART + 500)
    await removeThrough(store, PART - 1)
    expect(tablesOf(store.dataDir)).toHaveLength(3)
    expect(await found(store, `own${PART - 1}`)).toEqual([])
    await removeThrough(store, PART)
    expect(tablesOf(store.dataDir)).toEqual(['audit_text_2', 'audit_text_3'])
    expect(await found(store, 'here')).toEqual(downFrom(2 * PART + 500, PART + 1))
  })

  it('begin again after all records were removed', async () => {
    const store = await open()
    await fill(store, 1, 30)
    expect(await found(store, 'here')).toHaveLength(30)
    await removeThrough(store, 30)
    expect(tablesOf(store.dataDir)).toEqual([])
    expect(await store.writer.run(mergeText, { pages: 2, maxMs: 3 })).toBe(false)
    expect(await found(store, 'here')).toEqual([])
    await fill(store, 31, 40)
    expect(await found(store, 'here')).toEqual(downFrom(40, 31))
  })

  it('are a sixty-fourth of a long trail each', async () => {
    const store = await open()
    query(store.dataDir, (database) => {
      const insert = database.prepare(
        `insert into audit (seq, time_ms, recorded_ms, source, kind, body_bytes, hash, body)
         values (?, 0, 0, 'event', 'k', 0, x'00', x'00')`,
      )
      insert.run(1)
      insert.run(640_000)
      database.exec(`insert into audit_text_parts values (7, ${640_000 - 9000})`)
      database.exec(`create virtual table ${textTable(7)} using fts5(body, content = '')`)
      database.exec('update audit_progress set text_seq = 640000')
    })
    await fill(store, 640_001, 641_000)
    expect(tablesOf(store.dataDir)).toEqual([textTable(7)])
    await fill(store, 641_001, 642_000)
    expect(tablesOf(store.dataDir)).toEqual([textTable(7), textTable(8)])
  })
})

describe('an index of an earlier release', () => {
  const openUndivided = async (records: number): Promise<TestSqliteStore> => {
    const store = await open()
    await store.writer.run(append, { from: 1, to: records })
    await store.close()
    query(store.dataDir, (database) => {
      database.exec(
        `create virtual table audit_text using fts5(body, content = '', contentless_delete = 1, detail = 'none');
         insert into audit_text (audit_text, rank) values ('automerge', 0), ('deletemerge', 50);
         insert into audit_text_parts values (0, 0)`,
      )
      const insert = database.prepare('insert into audit_text (rowid, body) values (?, ?)')
      database.transaction(() => {
        for (let seq = 1; seq <= records; seq += 1) insert.run(seq, `here own${seq}`)
      })()
      database.exec(`update audit_progress set text_seq = ${records}`)
    })
    return await open(store.dataDir)
  }
  const bytesOf = (dataDir: string): number =>
    query(dataDir, (database) =>
      Number(database.prepare('select sum(length(block)) from audit_text_data').pluck().get()),
    )

  it('is searched behind the parts, which begin with the next record', async () => {
    const store = await openUndivided(300)
    await fill(store, 301, 310)
    expect(tablesOf(store.dataDir)).toEqual(['audit_text', 'audit_text_1'])
    expect(await found(store, 'here', 100)).toEqual(downFrom(310, 1))
  })

  it('gives up removed records once half of them are gone, and is dropped with the last', async () => {
    const store = await openUndivided(300)
    const whole = bytesOf(store.dataDir)
    await fill(store, 301, 310)
    await removeThrough(store, 100)
    expect(bytesOf(store.dataDir)).toBeGreaterThanOrEqual(whole)
    await removeThrough(store, 200)
    expect(bytesOf(store.dataDir)).toBeLessThan(whole)
    expect(await found(store, 'here')).toEqual(downFrom(310, 201))
    await removeThrough(store, 300)
    expect(tablesOf(store.dataDir)).toEqual(['audit_text_1'])
    expect(await found(store, 'here')).toEqual(downFrom(310, 301))
  })
})
