import Database from 'better-sqlite3'
import { afterEach, describe, expect, test, vi } from 'vitest'

import type { DecisionReadStore } from '../../../src/store/ports/decision-store.js'
import type { Readers } from '../../../src/store/ports/readers.js'
import type { Transaction, WriteOperation } from '../../../src/store/ports/transaction.js'
import { openStore } from '../../support/decisions.js'
import { useSqliteStore } from '../../support/service-store.js'

const PAGE = { rows: 10, bytes: 1000 }
const TRIGGER = { gateId: 1, executionId: 'x', triggerToken: 'ci', bodyDigest: 'x' }

type Lookup<Context> = readonly [string, (context: Context) => Promise<unknown>]

/** A statement as sent to SQLite. */
interface Asked {
  readonly text: string
  readonly values: readonly unknown[]
}

type Prepare = (this: Database.Database, text: string) => Database.Statement

/** Records the statements of connections opened from now on. */
function listen(): Asked[] {
  const asked: Asked[] = []
  const prepare = Reflect.get(Database.prototype, 'prepare') as Prepare
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (
    this: Database.Database,
    text: string,
  ) {
    const statement = prepare.call(this, text)
    for (const method of ['all', 'get', 'iterate'] as const) {
      const original = statement[method].bind(statement) as (...values: unknown[]) => never
      statement[method] = (...values: unknown[]): never => {
        asked.push({ text, values })
        return original(...values)
      }
    }
    return statement
  })
  return asked
}

/** How SQLite finds the rows, a line for each step. */
function planOf(path: string, { text, values }: Asked): string[] {
  const database = new Database(path, { readonly: true })
  try {
    const steps = database.prepare(`explain query plan ${text}`).all(...values) as { detail: string }[]
    return steps.map(({ detail }) => detail)
  } finally {
    database.close()
  }
}

/** The statements of a lookup. */
async function questionsOf(asked: Asked[], look: () => Promise<unknown>): Promise<Asked[]> {
  asked.length = 0
  await look()
  vi.restoreAllMocks()
  return asked.filter(({ text }) => /\bfrom\b/i.test(text))
}

function expectIndexes(path: string, asked: readonly Asked[]): readonly string[] {
  expect(asked).not.toEqual([])
  const steps = asked.flatMap((one) => planOf(path, one))
  expect(steps.filter((step) => step.startsWith('SCAN') && !step.includes('INDEX'))).toEqual([])
  return steps
}

afterEach(() => {
  vi.restoreAllMocks()
})

/** With the index, or table, that its rows are found by. */
const LOOKUPS: readonly (readonly [string, string, (readers: Readers) => Promise<unknown>])[] = [
  ['an instance', 'PRIMARY KEY', ({ gates }) => gates.findInstance(1)],
  ['the reviews of an instance', 'gate_reviews_by_instance', ({ gates }) => gates.reviewsOf(1)],
  ['the documents of an instance', 'PRIMARY KEY', ({ gates }) => gates.findDocuments(1)],
  [
    'the instances of an execution',
    'gate_instances_by_execution',
    ({ gates }) => gates.listInstances({ executionId: 'x', order: 'newest', limit: 9 }),
  ],
  [
    'the instances of a gate',
    'gate_instances_by_gate',
    ({ gates }) => gates.listInstances({ gateId: 1, order: 'newest', limit: 9 }),
  ],
  [
    'the instances that wait, by their deadlines',
    'gate_instances_by_state',
    ({ gates }) => gates.listInstances({ state: 'activated', order: 'deadline', limit: 9 }),
  ],
  [
    'how many instances wait',
    'gate_instances_by_state',
    ({ gates }) => gates.countInstances({ state: 'activated' }),
  ],
  ['instances with work', 'gate_instances_with_work', ({ gates }) => gates.instancesWithWork(0, 9)],
  ['the next expiry', 'gate_instances_open', ({ gates }) => gates.nextExpiryMs()],
  ['the oldest end', 'gate_instances_ended', ({ gates }) => gates.oldestEndMs()],
  [
    'the messages about a subject',
    'outbox_by_subject',
    ({ outbox }) => outbox.list({ subject: 'x', limit: 9 }),
  ],
  [
    'the messages in a state',
    'outbox_given_up',
    ({ outbox }) => outbox.list({ state: 'given_up', limit: 9 }),
  ],
  ['whether anything is pending', 'outbox_pending', ({ outbox }) => outbox.hasPending()],
  ['the oldest message that is settled', 'outbox_settled', ({ outbox }) => outbox.oldestSettledMs()],
  ['an application', 'registry_by_key', ({ registry }) => registry.findApplication('x')],
  ['a pipeline', 'registry_by_pipeline_id', ({ registry }) => registry.findPipeline('x')],
  ['a pipeline by its name', 'registry_by_key', ({ registry }) => registry.findPipelineByKey('x')],
  ['the versions of a pipeline', 'registry_versions', ({ registry }) => registry.versions(1, 9)],
  ['an analysis', 'PRIMARY KEY', ({ analysis }) => analysis.run(1)],
  [
    'the analyses of an execution',
    'analysis_runs_by_execution',
    ({ analysis }) => analysis.runs({ executionId: 'x', limit: 9 }),
  ],
  [
    'the analyses of an application',
    'analysis_runs_by_application',
    ({ analysis }) => analysis.runs({ application: 'x', limit: 9 }),
  ],
  [
    'the analyses that run',
    'analysis_runs_running',
    ({ analysis }) => analysis.runs({ state: 'RUNNING', limit: 9 }),
  ],
  ['an analysis whose data are old', 'analysis_runs_kept', ({ analysis }) => analysis.expiredRun(1)],
  ['an interval', 'analysis_looks', ({ analysis }) => analysis.interval(1, 1)],
  ['the templates of logs', 'analysis_log_history', ({ analysis }) => analysis.logTemplates('x')],
]

const WRITES: readonly Lookup<Transaction>[] = [
  ['an instance of the same trigger', ({ gates }) => gates.findTriggered(TRIGGER)],
  ['a reserved instance', ({ gates }) => gates.findReserved(1, 'x')],
  ['instances whose time is over', ({ gates }) => gates.dueInstances(1, 9)],
  [
    'instances that ended long ago',
    ({ gates }) => gates.endedBefore({ beforeMs: 1, after: undefined, limit: 9 }),
  ],
  ['the states of messages about a subject', ({ outbox }) => outbox.statesOf('x')],
  ['an application to change', ({ registry }) => registry.findApplication('x')],
]

const DECISIONS: readonly Lookup<DecisionReadStore>[] = [
  ['a decision', (store) => store.get('x')],
  ['the newest decisions', (store) => store.page({}, PAGE)],
  ['the decisions of a path', (store) => store.page({ path: 'app/allow' }, PAGE)],
  ['the decisions about an application', (store) => store.page({ application: 'shop' }, PAGE)],
  ['the denials of a package', (store) => store.page({ package: 'app.rules' }, PAGE)],
  ['the denials', (store) => store.page({ outcome: 'deny' }, PAGE)],
  ['the decisions of a time', (store) => store.page({ fromMs: 1, toMs: 2 }, PAGE)],
  ['the decisions about an execution', (store) => store.ofExecution('x', 9)],
]

describe('an index, or the order of rows, finds', () => {
  const open = useSqliteStore()

  test.each(LOOKUPS)('%s by %s', async (_, index, look) => {
    const asked = listen()
    const { dataDir, lookups } = await open()
    const steps = expectIndexes(`${dataDir}/tidegate.db`, await questionsOf(asked, () => look(lookups)))
    expect(steps.join()).toContain(index)
  })

  test.each(WRITES)('%s', async (_, look) => {
    const asked = listen()
    const { dataDir, writer } = await open()
    const operation: WriteOperation<undefined, unknown> = {
      name: 'test.look',
      apply: (transaction) => look(transaction),
    }
    expectIndexes(`${dataDir}/tidegate.db`, await questionsOf(asked, () => writer.run(operation, undefined)))
  })

  test.each(DECISIONS)('%s', async (_, look) => {
    const asked = listen()
    const { path, reader } = await openStore()
    expectIndexes(path, await questionsOf(asked, () => look(reader)))
  })
})
