import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { nopDecisionLog } from '../../../../src/decisions/decision-log.js'
import type { DecisionEntry } from '../../../../src/decisions/decision-log.js'
import { countRefusals } from '../../../../src/decisions/refusals.js'
import type {
  DecisionFilter,
  DecisionPosition,
  DecisionReadStore,
} from '../../../../src/store/ports/decision-store.js'
import { decisionDatabaseOptions } from '../../../../src/store/sqlite/decisions/decision-database.js'
import { migrate } from '../../../../src/store/sqlite/engine/migrate.js'
import { openDatabase } from '../../../../src/store/sqlite/engine/open-database.js'
import { decisionMigrations } from '../../../../src/store/sqlite/migrations/decisions.js'
import { aBatch, anEntry, openStore, temporaryFolder } from '../../../support/decisions.js'

const START = 1_700_000_000_000

const denial = (n: number, ...names: readonly string[]): DecisionEntry =>
  anEntry({
    decisionId: `d${n}`,
    timeMs: START + n,
    outcome: 'deny',
    path: ['deploy/allow', 'deploy/deny'][n % 2] ?? '',
    input: Buffer.from(`{"executionId":"e${n % 11}"}`),
    packages: Buffer.from(JSON.stringify(names.map((name) => ({ package: name, deny: ['no'] })))),
  })

async function allIds(store: DecisionReadStore, filter: DecisionFilter): Promise<string[]> {
  const ids: string[] = []
  let after: DecisionPosition | undefined
  do {
    const page = await store.page(filter, { rows: 97, bytes: 1e6 }, after)
    ids.push(...page.decisions.map(({ decisionId }) => decisionId))
    after = page.next
  } while (after !== undefined)
  return ids
}

test.each<{ name: string; filter: DecisionFilter; matches: (n: number) => boolean }>([
  { name: 'a package', filter: { package: 'app.p3' }, matches: (n) => n % 13 === 3 },
  { name: 'a package of all', filter: { package: 'app.common' }, matches: () => true },
  { name: 'a package that never denied', filter: { package: 'app' }, matches: () => false },
  {
    name: 'a package in one path and a time',
    filter: { package: 'app.common', path: 'deploy/deny', fromMs: START + 50, toMs: START + 2000 },
    matches: (n) => n % 2 === 1 && n >= 50 && n < 2000,
  },
  {
    name: 'a package and an execution',
    filter: { package: 'app.p3', executionId: 'e5' },
    matches: (n) => n % 13 === 3 && n % 11 === 5,
  },
])('the denials of $name are found, newest first', async ({ filter, matches }) => {
  const { writer, reader } = await openStore()
  const numbers = Array.from({ length: 2500 }, (_, n) => n)
  writer.insert(aBatch(numbers.map((n) => denial(n, 'app.common', `app.p${n % 13}`))))
  const expected = numbers.filter(matches).map((n) => `d${n}`)
  expect(await allIds(reader, filter)).toEqual(expected.reverse())
})

test('the denials of a package are counted by period, the newest up to a maximum', async () => {
  const { writer, reader } = await openStore()
  const numbers = Array.from({ length: 300 }, (_, n) => n)
  writer.insert(aBatch(numbers.map((n) => denial(n, n < 250 ? 'app.often' : 'app.late'))))
  const query = { package: 'app.often', fromMs: START + 100, periodMs: 50 }
  expect(await reader.denials(query, 1000)).toEqual([
    { period: 0, count: 50 },
    { period: 1, count: 50 },
    { period: 2, count: 50 },
  ])
  expect(await reader.denials(query, 60)).toEqual([
    { period: 1, count: 10 },
    { period: 2, count: 50 },
  ])
  expect(await reader.denials({ ...query, package: 'app.never' }, 1000)).toEqual([])
  const [all] = await countRefusals({ store: reader, log: nopDecisionLog }, ['app.often'], {
    ...{ toMs: START + 300, periodMs: 100, count: 3 },
  })
  expect(all).toEqual({ package: 'app.often', counts: [100, 100, 50], total: 250, isMore: false })
})

test('denials since a time are counted up to a maximum', async () => {
  const { writer, reader } = await openStore()
  writer.insert(aBatch(Array.from({ length: 30 }, (_, n) => denial(n, 'app.a'))))
  expect(await reader.count({ outcome: 'deny', fromMs: START + 10 }, 1000)).toBe(20)
  expect(await reader.count({ outcome: 'deny', fromMs: START }, 7)).toBe(7)
  expect(await reader.count({ outcome: 'error', fromMs: START }, 7)).toBe(0)
})

test('denials that were stored before packages could be searched are found', async () => {
  const path = join(temporaryFolder(), 'decisions.db')
  const database = openDatabase(decisionDatabaseOptions(path))
  const before = Object.entries(decisionMigrations).filter(([name]) => name < '0006')
  await migrate(database, Object.fromEntries(before))
  const insert = database.prepare(
    `insert into decisions (decision_id, time_ms, kind, path, revision, outcome, duration_ns, input_truncated, result_truncated, packages)
     values (?, ?, 'data', 'deploy/deny', 'r1', 'deny', 1, 0, 0, ?)`,
  )
  const named = ['app.old', 'app["a/b"]'].map((name) => ({ package: name, deny: ['no'] }))
  insert.run('d1', START + 1, Buffer.from(JSON.stringify(named)))
  insert.run('d2', START + 2, Buffer.from('[{"packagesLeftOut":3}]'))
  database.close()
  const { reader } = await openStore({ path })
  expect(await allIds(reader, { package: 'app["a/b"]' })).toEqual(['d1'])
})

test('the packages of a decision are removed with it', async () => {
  const { path, writer } = await openStore()
  writer.insert(aBatch(Array.from({ length: 20 }, (_, n) => denial(n, 'app', 'app'))))
  writer.deleteOldest(15)
  const database = openDatabase(decisionDatabaseOptions(path))
  onTestFinished(() => void database.close())
  const rows = database.prepare('select package, seq from decision_packages').all()
  expect(rows).toEqual([16, 17, 18, 19, 20].map((seq) => ({ package: 'app', seq })))
})
