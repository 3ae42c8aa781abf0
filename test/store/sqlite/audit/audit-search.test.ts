import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { HOUR, appendAll, entry, filledTrail, retain, seqsOf } from '../../../support/filled-trail.js'
import { indexColumns, indexText } from '../../../../src/store/sqlite/maintenance/maintenance-operations.js'
import { useSqliteStore } from '../../../support/service-store.js'
import type { TestSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()
/** Takes up a record, or enters some of the values that were taken up. */
const SOME_VALUES = { records: 100, values: 7 }
const ALL_TEXT = { limit: 100, maxBytes: 1_000_000 }
const filled = (count: number): Promise<TestSqliteStore> => filledTrail(open(), count)

describe('search by columns', () => {
  it.each([0, 7, 30])('gives the same whether or not the first %i records are indexed', async (indexed) => {
    const store = await filled(30)
    await store.writer.run(indexColumns, { records: indexed, values: 10_000 })
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
    await store.writer.run(indexColumns, { records: 10, values: 10_000 })
    for (let isEntering = true; isEntering;) {
      isEntering = await store.writer.run(indexColumns, SOME_VALUES)
      expect(await seqsOf(store, { application: 'app-2', kind: 'odd' })).toEqual([29, 23, 17, 11, 5])
    }
    expect(await store.lookups.maintenance.progress()).toMatchObject({ columnsSeq: 30 })
  })

  it('takes up few records at a time, since events wait meanwhile', async () => {
    const store = await filled(30)
    expect(await store.writer.run(indexColumns, SOME_VALUES)).toBe(true)
    const file = new Database(join(store.dataDir, 'tidegate.db'), { readonly: true })
    expect(file.prepare('select count(*) from audit_values').pluck().get()).toBeLessThanOrEqual(7)
    file.close()
  })

  it('enters nothing of records that retention has removed meanwhile', async () => {
    const store = await filled(20)
    // All twenty have been taken up by then.
    for (let step = 0; step < 22; step += 1) await store.writer.run(indexColumns, SOME_VALUES)
    const { hash = '' } = (await store.lookups.audit.find(12)) ?? {}
    await store.writer.run(retain, { seq: 12, hash })
    await store.writer.run(indexColumns, { records: 100, values: 10_000 })
    expect(await seqsOf(store, { application: 'app-1' })).toEqual([19, 16, 13])
    const rest = new Database(join(store.dataDir, 'tidegate.db'), { readonly: true })
    expect(rest.prepare('select count(*) from audit_postings where seq <= 12').pluck().get()).toBe(0)
    rest.close()
  })

  it.each(['newest_first', 'oldest_first'] as const)('pages %s without gap or repeat', async (order) => {
    const store = await filled(30)
    await store.writer.run(indexColumns, { records: 20, values: 10_000 })
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

describe('search by free text', () => {
  const words = async (store: TestSqliteStore, ...given: string[]): Promise<number[]> => {
    const { records } = await store.lookups.audit.textPage({ filter: {}, words: given, limit: 100 })
    return records.map(({ seq }) => seq)
  }

  it('finds words as they are spoken, their beginnings, and what stands behind an escape', async () => {
    const store = await filled(12)
    await store.writer.run(indexText, ALL_TEXT)
    expect(await words(store, 'NUMBER', '11')).toEqual([11])
    expect(await words(store, 'zurich', '7')).toEqual([7])
    expect(await words(store, 'zur*', '1*')).toEqual([12, 11, 10, 1])
    expect(await words(store, 'line', '3')).toEqual([3])
    expect(await words(store, 'missing')).toEqual([])
  })

  it('takes a text of backslashes no longer than any other', { timeout: 10_000 }, async () => {
    const store = await open()
    const body = JSON.stringify({ note: `${'\\'.repeat(120_000)}rest\\\\nfound \\nlost` })
    await store.writer.run(appendAll, [entry(1, { body: Buffer.from(body) })])
    await store.writer.run(indexText, ALL_TEXT)
    expect(await words(store, 'found', 'lost')).toEqual([1])
  })

  it('takes the syntax of the index as text', async () => {
    const store = await filled(3)
    await store.writer.run(indexText, ALL_TEXT)
    for (const word of ['"', 'NOT', 'body:1', 'a" OR "b', '*', '(', '^x', '']) {
      expect(await words(store, word, 'missing')).toEqual([])
    }
  })

  it('goes together with columns, times and paging', async () => {
    const store = await filled(12)
    await store.writer.run(indexText, ALL_TEXT)
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
