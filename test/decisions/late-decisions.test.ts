import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { nopDecisionLog } from '../../src/decisions/decision-log.js'
import { decisionsOfExecution, queryDecisions } from '../../src/decisions/query-decisions.js'
import type { DecisionQuery } from '../../src/decisions/query-decisions.js'
import { ReportBudget } from '../../src/decisions/decision-reporter.js'
import { aBatch, anEntry, openStore } from '../support/decisions.js'

const START = 1_700_000_000_000

interface Row {
  readonly id: string
  readonly timeMs: number
  readonly path: string
  readonly application: string
}

const toEntry = ({ id, timeMs, path, application }: Row) =>
  anEntry({ decisionId: id, timeMs, path, application, input: Buffer.from('{"executionId":"e"}') })

/** Newest first, and of one millisecond the last written first. */
const inOrder = (rows: readonly Row[]): string[] =>
  rows
    .map((row, seq) => ({ ...row, seq }))
    .sort((a, b) => b.timeMs - a.timeMs || b.seq - a.seq)
    .map(({ id }) => id)

/** Batches of decisions by the time when they were asked for, some long after it, or before a clock that was set back. */
const batches = fc.array(
  fc.array(
    fc.record({
      timeMs: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: -100_000, max: 100_000 })),
      path: fc.constantFrom('deploy/allow', 'deploy/deny', 'runtime/x'),
      application: fc.constantFrom('shop', 'cart'),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  { minLength: 1, maxLength: 8 },
)

const queries = fc.constantFrom<DecisionQuery>(
  {},
  { path: 'deploy/allow' },
  { path: 'deploy/' },
  { application: 'shop' },
  { executionId: 'e' },
  { path: 'deploy/', application: 'cart' },
  { fromMs: START, toMs: START + 20 },
)

function matches(row: Row, { path, application, fromMs, toMs }: DecisionQuery): boolean {
  if (path !== undefined && !(path.endsWith('/') ? row.path.startsWith(path) : row.path === path))
    return false
  if (application !== undefined && row.application !== application) return false
  return fromMs === undefined || toMs === undefined || (row.timeMs >= fromMs && row.timeMs < toMs)
}

describe('decisions that are written long after they were asked for', () => {
  it('shift no page: each decision that was there is shown once and in order, whatever is written meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(batches, queries, fc.integer({ min: 1, max: 7 }), async (written, query, limit) => {
        const { writer, reader } = await openStore()
        const rows = written.map((batch, number) =>
          batch.map((row, place) => ({ ...row, id: `${number}-${place}`, timeMs: START + row.timeMs })),
        )
        const [before = [], ...later] = rows
        writer.insert(aBatch(before.map(toEntry)))
        const shown: string[] = []
        let cursor: string | undefined
        do {
          const page = await queryDecisions(
            { store: reader, log: nopDecisionLog },
            { ...query, limit, cursor },
          )
          shown.push(...page.decisions.map(({ decisionId }) => decisionId))
          cursor = page.nextCursor
          const next = later.shift()
          if (next !== undefined) writer.insert(aBatch(next.map(toEntry)))
        } while (cursor !== undefined)
        const wanted = before.filter((row) => matches(row, query))
        expect(shown.filter((id) => id.startsWith('0-'))).toEqual(inOrder(wanted))
        expect(new Set(shown).size).toBe(shown.length)
        const all = rows.slice(0, rows.length - later.length).flat()
        expect(shown).toEqual(inOrder(all).filter((id) => shown.includes(id)))
      }),
      { numRuns: 60 },
    )
  })

  it('stand where they were asked for, below those that were asked for later', async () => {
    const { writer, reader } = await openStore()
    const row = (id: string, timeMs: number): Row => ({ id, timeMs, path: 'x', application: 'shop' })
    writer.insert(aBatch([row('fast', 5), row('fast too', 6)].map(toEntry)))
    writer.insert(aBatch([toEntry(row('slow', 1))]))
    const deps = { store: reader, log: nopDecisionLog }
    const { decisions } = await queryDecisions(deps, {})
    expect(decisions.map(({ decisionId }) => decisionId)).toEqual(['fast too', 'fast', 'slow'])
    const ofExecution = await decisionsOfExecution(deps, 'e', 10)
    expect(ofExecution.map(({ decisionId }) => decisionId)).toEqual(['slow', 'fast', 'fast too'])
  })

  it('do not have the time since given to the budget of reports again', () => {
    const budget = new ReportBudget(1)
    for (let n = 0; n < 60; n += 1) budget.spend(START, true)
    const spent = Array.from({ length: 50 }, (_, n) => budget.spend(START + (n % 2 === 0 ? -2000 : 0), true))
    expect(spent.filter(Boolean)).toHaveLength(0)
  })
})
