import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { DecisionEntry } from '../../../src/decisions/decision-log.js'
import { shipBatch } from '../../../src/decisions/shipping/ship-continually.js'
import type {
  DecisionFilter,
  DecisionPosition,
  DecisionReadStore,
} from '../../../src/store/ports/decision-store.js'
import { openDecisionReceiver } from '../../../src/store/postgres/decisions/decision-receiver.js'
import { serviceSchema } from '../../../src/store/postgres/migrations/service.js'
import { openSharedDecisions } from '../../../src/store/postgres/decisions/shared-decisions.js'
import { openShippedLog } from '../../../src/store/sqlite/decisions/shipped-log.js'
import { aBatch, anEntry, openStore } from '../../support/decisions.js'
import { query } from '../../support/postgres/postgres-server.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const DAY = 86_400_000
const START = Date.UTC(2026, 0, 20)
const OUTCOMES = ['allow', 'deny', 'defined', 'undefined', 'error'] as const

/** Two hundred decisions over a hundred days, some at the same moment. */
const entries = (name: string): DecisionEntry[] =>
  Array.from({ length: 200 }, (_, index) =>
    anEntry({
      decisionId: `${name}-${index}`,
      timeMs: START + Math.floor(index / 2) * DAY,
      path: index % 3 === 0 ? 'deploy/allow' : `runtime/${index % 4}`,
      outcome: OUTCOMES[index % OUTCOMES.length] ?? 'allow',
      application: index % 2 === 0 ? 'shop\0' : undefined,
      input: Buffer.from(JSON.stringify({ executionId: `run-${index % 7}`, filler: 'x'.repeat(index) })),
      result: index % 5 === 0 ? Buffer.from('{"allow": true}') : undefined,
      error: index % 5 === 4 ? 'it failed' : undefined,
      packages:
        index % 5 === 1
          ? Buffer.from(
              JSON.stringify([
                { package: 'app.common', deny: ['no'] },
                { package: `app.p${index % 4}`, deny: ['no'] },
                { packagesLeftOut: 2 },
              ]),
            )
          : undefined,
    }),
  )

/** A local log that is shipped to the database of a test. */
async function openShipped(name: string, decisions: readonly DecisionEntry[]) {
  const settings = await databaseOf(name)
  const { path, writer, reader } = await openStore()
  writer.insert(aBatch(decisions))
  const log = openShippedLog(path)
  const receiver = openDecisionReceiver(settings, `replica of ${name}`, serviceSchema)
  const shared = openSharedDecisions(settings)
  onTestFinished(async () => {
    log.close()
    await receiver.close()
    await shared.store.close()
  })
  const shipAll = async (): Promise<void> => {
    while ((await shipBatch({ log, receiver, bounds: { rows: 33, bytes: 4096 } })) !== undefined);
  }
  return { settings, reader, log, receiver, shared, shipAll }
}

async function readAll(
  store: Omit<DecisionReadStore, 'close'>,
  filter: DecisionFilter,
  rows: number,
  bytes: number,
) {
  const pages: string[][] = []
  let after: DecisionPosition | undefined
  do {
    const { decisions, next } = await store.page(filter, { rows, bytes }, after)
    pages.push(decisions.map(({ decisionId }) => decisionId))
    after = next
  } while (after !== undefined)
  return pages
}

describe('the decision log of several services', () => {
  it('is kept back while a newer release lets this one write no more, and shipped when it may again', async () => {
    const { settings, log, receiver, shipAll, shared } = await openShipped(randomUUID(), entries('kept back'))
    await query(settings, 'update store_schema set oldest_writer = 99')
    await expect(shipBatch({ log, receiver, bounds: { rows: 33, bytes: 4096 } })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('upgrade this replica') as string,
    })
    expect(await query(settings, 'select count(*)::int as kept from decisions')).toEqual([{ kept: 0 }])
    await query(settings, 'update store_schema set oldest_writer = 1')
    await shipAll()
    const pages = await readAll(shared.store, {}, 50, 1_000_000)
    expect(pages.flat()).toHaveLength(200)
  })

  it('answers as the local one does, whatever is asked and however its pages are cut', async () => {
    const { reader, shared, shipAll } = await openShipped(randomUUID(), entries('d'))
    await shipAll()
    const filters: DecisionFilter[] = [
      {},
      { path: 'deploy/allow' },
      { path: 'runtime/' },
      { outcome: 'deny' },
      { outcome: 'allow' },
      { executionId: 'run-3' },
      { outcome: 'error', path: 'runtime/' },
      { fromMs: START + 10 * DAY, toMs: START + 60.5 * DAY },
      { application: 'nobody' },
      { package: 'app.common' },
      { package: 'app.p2', path: 'runtime/', toMs: START + 60.5 * DAY },
      { package: 'app.p3', executionId: 'run-3' },
      { package: 'app' },
    ]
    for (const filter of filters) {
      for (const [rows, bytes] of [
        [500, 1e6],
        [7, 1e6],
        [50, 1000],
        [1, 1],
      ] as const) {
        expect(await readAll(shared.store, filter, rows, bytes)).toEqual(
          await readAll(reader, filter, rows, bytes),
        )
      }
    }
    const [here, there] = [await reader.get('d-14'), await shared.store.get('d-14')]
    expect({ ...there, seq: 0, application: here?.application }).toEqual({
      ...here,
      seq: 0,
      replica: there?.replica,
      input: there?.input,
      result: null,
    })
    expect(Buffer.from(there?.input ?? [])).toEqual(Buffer.from(here?.input ?? []))
    expect(there?.application).toBe('shop\ufffd')
    const ofExecution = await shared.store.ofExecution('run-2', 5)
    const locally = await reader.ofExecution('run-2', 5)
    expect(ofExecution.map(({ decisionId }) => decisionId)).toEqual(
      locally.map(({ decisionId }) => decisionId),
    )
    expect(await shared.store.get('nobody')).toBeUndefined()
  })

  it('holds each decision once, however often it was shipped, and names who decided', async () => {
    const name = randomUUID()
    const { settings, log, receiver, shared, shipAll } = await openShipped(name, entries('a'))
    // As when the service ends between the commit and the note of it.
    const first = log.next({ rows: 10, bytes: 1e6 })
    await receiver.keep(first?.decisions ?? [])
    await shipAll()
    const other = await openShipped(name, entries('b'))
    await other.shipAll()
    const [counted] = await query<{ all: number; ids: number }>(
      settings,
      'select count(*)::int4 as all, count(distinct decision_id)::int4 as ids from decisions',
    )
    expect(counted).toEqual({ all: 400, ids: 400 })
    expect((await shared.store.get('b-3'))?.replica).toBe(`replica of ${name}`)
  })

  it('has a table a month, and loses whole months that are old; a month that is needed again is made again', async () => {
    const { settings, receiver, log, shared, shipAll } = await openShipped(randomUUID(), entries('d'))
    const [first] = log.next({ rows: 1, bytes: 1 })?.decisions ?? []
    await shipAll()
    const months = () =>
      query<{ name: string }>(
        settings,
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'decisions'::regclass order by 1",
      ).then((rows) => rows.map(({ name }) => name))
    const made = ['2026_01', '2026_02', '2026_03', '2026_04'].map((month) => `decisions_${month}`)
    expect(await months()).toEqual(made)
    expect(await shared.removeMonthsBefore(Date.UTC(2026, 2, 1) - 1)).toBe(1)
    expect(await shared.removeMonthsBefore(Date.UTC(2026, 2, 1))).toBe(1)
    expect(await months()).toEqual(made.slice(2))
    expect(await shared.store.get('d-0')).toBeUndefined()
    const [oldest] = await query<{ ms: number }>(
      settings,
      'select min(time_ms)::float8 as ms from decision_packages',
    )
    expect(oldest?.ms).toBeGreaterThanOrEqual(Date.UTC(2026, 2, 1))
    if (first !== undefined) await receiver.keep([first])
    expect((await shared.store.get('d-0'))?.decisionId).toBe('d-0')
  })

  it('is made by several at once', async () => {
    const name = randomUUID()
    const settings = await databaseOf(name)
    const logs = await Promise.all(['a', 'b', 'c'].map((each) => openShipped(name, entries(each))))
    await Promise.all(logs.map(({ shipAll }) => shipAll()))
    const rows = await query<{ count: number }>(settings, 'select count(*)::int4 as count from decisions')
    expect(rows).toEqual([{ count: 600 }])
  })
})
