import { randomBytes } from 'node:crypto'
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DecisionBatchBuilder } from '../../../../src/decisions/decision-batch.js'
import type { DecisionEntry } from '../../../../src/decisions/decision-log.js'
import { nopDecisionLog } from '../../../../src/decisions/decision-log.js'
import { findDecision, queryDecisions } from '../../../../src/decisions/query-decisions.js'
import type { DecisionQuery } from '../../../../src/decisions/query-decisions.js'
import { AppError } from '../../../../src/errors/app-error.js'
import type { DecisionReadStore } from '../../../../src/store/ports/decision-store.js'
import { JsonText } from '../../../../src/lib/json/text/json-text.js'
import { keepDecisions } from '../../../../src/decisions/keep-decisions.js'
import { decisionDatabaseOptions } from '../../../../src/store/sqlite/decisions/decision-database.js'
import { openDecisionReader } from '../../../../src/store/sqlite/decisions/decision-reader.js'
import {
  connectDecisionWriter,
  SqliteDecisionWriter,
} from '../../../../src/store/sqlite/decisions/decision-writer.js'
import { migrate } from '../../../../src/store/sqlite/engine/migrate.js'
import { decisionMigrations } from '../../../../src/store/sqlite/migrations/decisions.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { aBatch, anEntry, databaseBytes, openStore, temporaryFolder } from '../../../support/decisions.js'

const START = 1_700_000_000_000

/** Decision `n` is made in millisecond `n`; the fields repeat in cycles of different lengths. */
const numbered = (n: number, overrides: Partial<DecisionEntry> = {}): DecisionEntry =>
  anEntry({
    decisionId: `d${n}`,
    timeMs: START + n,
    path: ['deploy/allow', 'deploy/deny', 'deployment'][n % 3]!,
    outcome: n % 50 === 0 ? 'error' : n % 2 === 0 ? 'allow' : 'deny',
    application: n % 7 === 0 ? undefined : `app${n % 7}`,
    ...overrides,
  })
const reading = (store: DecisionReadStore) => ({ store, log: nopDecisionLog })
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const batchOf = (from: number, to: number, overrides: Partial<DecisionEntry> = {}) =>
  aBatch(range(from, to).map((n) => numbered(n, overrides)))

/** Decisions whose inputs neither compress nor repeat. */
const incompressible = (from: number, to: number) =>
  aBatch(range(from, to).map((n) => numbered(n, { input: randomBytes(8000) })))

async function allIds(store: DecisionReadStore, query: DecisionQuery): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await queryDecisions(reading(store), { ...query, cursor })
    ids.push(...page.decisions.map(({ decisionId }) => decisionId))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}

describe('the decision store', () => {
  it('shows a decision with everything that was recorded', async () => {
    const { writer, reader } = await openStore()
    const entry = anEntry({
      application: 'shop',
      caller: '10.0.0.1',
      requestId: 'q-1',
      error: 'boom',
      input: Buffer.from('{"a":"ü"}'),
      result: Buffer.from('{"allow":true}'),
    })
    writer.insert(aBatch([entry]))
    expect(await findDecision(reading(reader), 'd-1')).toEqual({
      decisionId: 'd-1',
      time: '2023-11-14T22:13:20.000Z',
      kind: 'data',
      path: 'deploy/allow',
      revision: 'r1',
      outcome: 'allow',
      application: 'shop',
      caller: '10.0.0.1',
      durationMs: 0.0015,
      requestId: 'q-1',
      input: new JsonText('{"a":"ü"}'),
      inputBytes: 10,
      inputTruncated: false,
      result: new JsonText('{"allow":true}'),
      error: 'boom',
    })
  })

  it('shows no field that was not recorded', async () => {
    const { writer, reader } = await openStore()
    writer.insert(aBatch([anEntry()]))
    expect(Object.keys(await findDecision(reading(reader), 'd-1')).sort()).toEqual(
      ['decisionId', 'durationMs', 'kind', 'outcome', 'path', 'revision', 'time'].sort(),
    )
  })

  it('shows the beginning of an input that was too large, without half a character', async () => {
    const { writer, reader } = await openStore({ maxInputBytes: 7 })
    writer.insert(aBatch([anEntry({ input: Buffer.from('{"a":"üüü"}') })]))
    const shown = await findDecision(reading(reader), 'd-1')
    expect(shown).toMatchObject({ inputPrefix: '{"a":"', inputBytes: 14, inputTruncated: true })
    expect(shown).not.toHaveProperty('input')
  })

  it('files a decision under its execution, from the whole of an input that is cut', async () => {
    const { writer, reader } = await openStore({ maxInputBytes: 20 })
    const input = Buffer.from(JSON.stringify({ padding: 'x'.repeat(100), executionId: '01J' }))
    const cut = new DecisionBatchBuilder(1, new Uint8Array(1000))
    cut.append(numbered(1, { input }), { inputBytes: 20, resultBytes: 20 })
    writer.insert(cut.build())
    writer.insert(aBatch([numbered(2, { input }), numbered(3, { input: Buffer.from('{}') })]))
    expect(await allIds(reader, { executionId: '01J' })).toEqual(['d2', 'd1'])
    expect(await findDecision(reading(reader), 'd1')).toMatchObject({
      executionId: '01J',
      inputTruncated: true,
    })
    expect(await findDecision(reading(reader), 'd3')).not.toHaveProperty('executionId')
  })

  it('gives the first decisions of an execution, oldest first', async () => {
    const { writer, reader } = await openStore()
    const input = Buffer.from('{"executionId":"01J"}')
    writer.insert(aBatch([3, 1, 2].map((n) => numbered(n, { input }))))
    writer.insert(aBatch([numbered(0, { input: Buffer.from('{"executionId":"other"}') })]))
    const found = await reader.ofExecution('01J', 2)
    expect(found).toMatchObject([
      { decisionId: 'd1', executionId: '01J', outcome: 'deny', application: 'app1' },
      { decisionId: 'd2' },
    ])
    expect(found).toHaveLength(2)
  })

  it('files no decision under an execution that is masked', async () => {
    const { writer, reader } = await openStore({ masks: ['/executionId'] })
    writer.insert(aBatch([anEntry({ input: Buffer.from('{"executionId":"01JSECRET"}') })]))
    expect(JSON.stringify(await findDecision(reading(reader), 'd-1'))).not.toContain('01JSECRET')
    expect(await reader.ofExecution('01JSECRET', 1)).toEqual([])
  })

  it('reports the decisions that it is asked for, without what is masked', async () => {
    const { writer } = await openStore({
      masks: ['/token'],
      reports: { reported: 'executions', perSecond: 10 },
    })
    const input = Buffer.from('{"executionId":"01J","token":"s3cret"}')
    const result = Buffer.from('["s3cret is wrong"]')
    const denied = numbered(1, { input, outcome: 'deny', application: 'shop', result })
    expect(writer.insert(aBatch([denied, numbered(2, { outcome: 'allow' })]))).toMatchObject({
      report: {
        decisions: [
          { decisionId: 'd1', executionId: '01J', result: '["[masked] is wrong"]', isResultCut: false },
        ],
        omitted: {},
      },
    })
    expect(writer.insert(aBatch([numbered(3, { outcome: 'allow' })])).report).toBeUndefined()
  })

  it('opens a file of before decisions were filed under executions', async () => {
    const path = join(temporaryFolder(), 'decisions.db')
    const database = openDatabase(decisionDatabaseOptions(path))
    await migrate(database, { '0001-decisions': decisionMigrations['0001-decisions']! })
    database.exec(
      `insert into decisions (decision_id, time_ms, kind, path, revision, outcome, duration_ns, input_truncated,
        result_truncated, input) values ('old', ${START}, 'runtime', 'p', 'r', 'deny', 1, 0, 0, cast('{"executionId":"01J"}' as blob))`,
    )
    database.close()
    const { writer, reader } = await openStore({ path })
    writer.insert(aBatch([numbered(1, { input: Buffer.from('{"executionId":"01J"}') })]))
    expect(await allIds(reader, {})).toEqual(['d1', 'old'])
    expect(await allIds(reader, { executionId: '01J' })).toEqual(['d1'])
  })

  it('keeps masked values out of the application, the error and the result too', async () => {
    const { writer, reader } = await openStore({ masks: ['/application', '/token'] })
    const entry = anEntry({
      input: Buffer.from('{"application":"shop","token":"s3cret"}'),
      application: 'shop',
      error: 'no such token: s3cret',
      result: Buffer.from('["s3cret may not save shop"]'),
    })
    writer.insert(aBatch([entry]))
    expect(await findDecision(reading(reader), 'd-1')).toMatchObject({
      application: '[masked]',
      error: 'no such token: [masked]',
      result: new JsonText('["[masked] may not save [masked]"]'),
    })
  })

  it('masks inputs, and keeps nothing of one that it cannot mask', async () => {
    const { writer, reader } = await openStore({ masks: ['/stages/*/token'] })
    const inputs = ['{"stages":[{"token":"s3cret","a":1}]}', '{"stages":[{"token":"s3cret"}']
    const entries = inputs.map((input, n) => numbered(n, { input: Buffer.from(input) }))
    expect(writer.insert(aBatch(entries))).toEqual({ maskFailed: 1 })
    expect((await findDecision(reading(reader), 'd0')).input).toEqual(
      new JsonText('{"stages":[{"token":"[masked]","a":1}]}'),
    )
    const unmasked = await findDecision(reading(reader), 'd1')
    expect(unmasked).toMatchObject({ inputBytes: 29, inputTruncated: true })
    expect(JSON.stringify(unmasked)).not.toContain('s3cret')
  })

  it('says that it does not know a decision', async () => {
    const { reader } = await openStore()
    await expect(findDecision(reading(reader), 'nope')).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('opens its file again with all that was written', async () => {
    const { path, writer, reader } = await openStore()
    writer.insert(batchOf(0, 10))
    const again = keepDecisions(connectDecisionWriter(path, 512 * 1024 * 1024), {
      masks: [],
      maxInputBytes: 10,
    })
    again.insert(batchOf(10, 20))
    again.close()
    expect(await allIds(reader, {})).toHaveLength(20)
  })

  it('opens after the process was killed, with every batch that was written', async () => {
    const { path, writer } = await openStore()
    writer.insert(batchOf(0, 100))
    // The remains of a killed process: the file and its log as they are on disk, not closed.
    const left = join(temporaryFolder(), 'decisions.db')
    for (const file of ['', '-wal']) copyFileSync(path + file, left + file)
    const { reader } = await openStore({ path: left })
    expect(await allIds(reader, { limit: 500 })).toHaveLength(100)
  })

  it('loses one batch, not the store, when the disk is full', async () => {
    const path = join(temporaryFolder(), 'decisions.db')
    const database = openDatabase(decisionDatabaseOptions(path))
    await migrate(database, decisionMigrations)
    const writer = keepDecisions(new SqliteDecisionWriter(database, 16, []), {
      masks: [],
      maxInputBytes: 8192,
    })
    const pages = Number(database.pragma('page_count', { simple: true }))
    database.pragma(`max_page_count = ${pages + 1}`)
    const large = () => incompressible(0, 50)
    expect(() => writer.insert(large())).toThrow(AppError)
    expect(() => writer.insert(large())).toThrow('write decisions: no space left')
    database.pragma('max_page_count = 100000')
    writer.insert(batchOf(50, 60))
    const reader = openDecisionReader(path)
    expect(await allIds(reader, {})).toHaveLength(10)
    await reader.close()
    writer.close()
  })
})

describe('paging through decisions', () => {
  const matching = (test: (n: number) => boolean) =>
    range(0, 2500)
      .filter(test)
      .map((n) => `d${n}`)
      .reverse()

  it.each<{ name: string; query: DecisionQuery; test: (n: number) => boolean }>([
    { name: 'everything', query: {}, test: () => true },
    { name: 'a path', query: { path: 'deploy/allow' }, test: (n) => n % 3 === 0 },
    { name: 'all paths below one', query: { path: 'deploy/' }, test: (n) => n % 3 !== 2 },
    { name: 'a common outcome', query: { outcome: 'allow' }, test: (n) => n % 2 === 0 && n % 50 !== 0 },
    { name: 'a rare outcome', query: { outcome: 'error' }, test: (n) => n % 50 === 0 },
    { name: 'an outcome that never was', query: { outcome: 'undefined' }, test: () => false },
    { name: 'an execution', query: { executionId: 'e5' }, test: (n) => n % 11 === 5 },
    {
      name: 'an execution in one path',
      query: { executionId: 'e5', path: 'deploy/allow' },
      test: (n) => n % 33 === 27,
    },
    { name: 'an application', query: { application: 'app3' }, test: (n) => n % 7 === 3 },
    { name: 'a time', query: { fromMs: START + 100, toMs: START + 200 }, test: (n) => n >= 100 && n < 200 },
    {
      name: 'all at once',
      query: {
        path: 'deploy/',
        outcome: 'deny',
        application: 'app3',
        fromMs: START + 50,
        toMs: START + 2000,
      },
      test: (n) => n % 3 !== 2 && n % 2 === 1 && n % 7 === 3 && n >= 50 && n < 2000,
    },
  ])('finds $name, newest first', async ({ query, test }) => {
    const { writer, reader } = await openStore()
    const inputs = range(0, 11).map((n) => Buffer.from(`{"executionId":"e${n}"}`))
    writer.insert(aBatch(range(0, 2500).map((n) => numbered(n, { input: inputs[n % 11] }))))
    expect(await allIds(reader, { ...query, limit: 97 })).toEqual(matching(test))
  })

  it('orders decisions of the same millisecond and pages between them', async () => {
    const { writer, reader } = await openStore()
    writer.insert(batchOf(0, 10, { timeMs: START }))
    expect(await allIds(reader, { limit: 3 })).toEqual(range(0, 10).map((n) => `d${9 - n}`))
  })

  it('neither repeats nor skips a decision while others are written', async () => {
    const { writer, reader } = await openStore()
    writer.insert(batchOf(0, 40))
    const first = await queryDecisions(reading(reader), { limit: 20 })
    writer.insert(batchOf(40, 80))
    const rest = await queryDecisions(reading(reader), { limit: 20, cursor: first.nextCursor })
    expect([...first.decisions, ...rest.decisions].map(({ decisionId }) => decisionId)).toEqual(
      range(0, 40).map((n) => `d${39 - n}`),
    )
    expect(rest).not.toHaveProperty('nextCursor')
  })

  it('ends a page early when it would grow too large, and continues after it', async () => {
    const { writer, reader } = await openStore({ maxInputBytes: 300_000 })
    for (const n of range(0, 5))
      writer.insert(batchOf(n, n + 1, { input: Buffer.from(`"${'x'.repeat(400_000)}"`) }))
    expect((await queryDecisions(reading(reader), { inputs: 'true' })).decisions).toHaveLength(2)
    expect(await allIds(reader, {})).toHaveLength(5)
  })

  it('shows 50 decisions when no limit is given', async () => {
    const { writer, reader } = await openStore()
    writer.insert(batchOf(0, 60))
    expect((await queryDecisions(reading(reader), {})).decisions).toHaveLength(50)
  })

  it.each<{ name: string; query: DecisionQuery; message: string }>([
    { name: 'a limit of 0', query: { limit: 0 }, message: 'limit' },
    { name: 'a limit above 500', query: { limit: 501 }, message: 'limit' },
    { name: 'a broken limit', query: { limit: 1.5 }, message: 'limit' },
    { name: 'a made-up cursor', query: { cursor: 'abc' }, message: 'cursor' },
  ])('refuses $name', async ({ query, message }) => {
    const { reader } = await openStore()
    await expect(queryDecisions(reading(reader), query)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(message) as string,
    })
  })
})

describe('the file of the decision store', () => {
  it('gives space back when decisions were deleted', async () => {
    const { path, writer } = await openStore()
    for (const n of range(0, 20)) writer.insert(incompressible(n * 50, n * 50 + 50))
    const [full, fullFile] = [writer.size(), databaseBytes(path)]
    expect(writer.deleteOldest(1000)).toBe(1000)
    expect(writer.size().bytes).toBeLessThan(full.bytes / 4)
    writer.releaseSpace(fullFile)
    expect(databaseBytes(path)).toBeLessThanOrEqual(fullFile * 0.7)
    writer.releaseSpace(fullFile / 8)
    expect(databaseBytes(path)).toBeLessThan(fullFile / 4)
    expect(statSync(path).size).toBeLessThan(fullFile / 4)
  })
})
