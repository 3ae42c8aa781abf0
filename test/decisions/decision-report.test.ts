import { describe, expect, test } from 'vitest'
import { batchRow } from '../../src/decisions/decision-batch.js'
import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import { isReportable } from '../../src/decisions/decision-report.js'
import { DecisionReporter } from '../../src/decisions/decision-reporter.js'
import type { ReportOptions } from '../../src/decisions/decision-reporter.js'
import { ReportBudget } from '../../src/decisions/decision-reporter.js'
import { aBatch, anEntry } from '../support/decisions.js'

describe('whether a decision is reported', () => {
  const about = { application: 'shop' }
  const inside = { executionId: '01J' }
  test.each([
    ['a denial about an application', { outcome: 'deny', ...about }, true, true],
    ['an error about an execution', { outcome: 'error', ...inside }, true, true],
    ['a denial about nothing known', { outcome: 'deny', application: null }, false, false],
    ['what was allowed to an execution', { outcome: 'allow', ...inside }, false, true],
    ['a document asked for in an execution', { outcome: 'defined', ...inside }, false, true],
    ['what was allowed to an application', { outcome: 'allow', ...about }, false, false],
  ])('%s', (_, decision, inDenied, inExecutions) => {
    expect(isReportable('denied', decision)).toBe(inDenied)
    expect(isReportable('executions', decision)).toBe(inExecutions)
  })
})

describe('the budget of reports', () => {
  /** How many of `tries` decisions in one millisecond are in the budget. */
  const spent = (budget: ReportBudget, timeMs: number, tries: number, isRefusal = true) =>
    Array.from({ length: tries }, () => budget.spend(timeMs, isRefusal)).filter(Boolean).length

  test('lets the burst of a minute pass, then its rate', () => {
    const budget = new ReportBudget(2)
    expect(spent(budget, 1000, 200)).toBe(120)
    expect(spent(budget, 2500, 200)).toBe(3)
    expect(spent(budget, 1_000_000, 200)).toBe(120)
  })

  test('keeps half for refusals', () => {
    const budget = new ReportBudget(1)
    expect(spent(budget, 0, 100, false)).toBe(30)
    expect(spent(budget, 0, 100)).toBe(30)
    expect(spent(budget, 20_000, 100, false)).toBe(0)
  })

  test('goes on when the clock is set back', () => {
    const budget = new ReportBudget(1)
    expect(spent(budget, 1_000_000, 100)).toBe(60)
    expect(spent(budget, 0, 100)).toBe(0)
    expect(spent(budget, 5000, 100)).toBe(5)
  })
})

describe('a report', () => {
  function reportOf(entry: Partial<DecisionEntry>, options: Partial<ReportOptions> = {}) {
    const reporter = new DecisionReporter({ reported: 'denied', perSecond: 1, ...options })
    reporter.offer(batchRow(aBatch([anEntry({ outcome: 'deny', application: 'shop', ...entry })]), 0), false)
    return reporter.take()
  }

  test('has what a decision was, and its reasons', () => {
    const caller = 'ci'
    const report = reportOf({ caller, result: Buffer.from('["no"]'), input: Buffer.from('{}') })
    expect(report?.decisions).toEqual([
      {
        ...{
          decisionId: 'd-1',
          timeMs: 1_700_000_000_000,
          kind: 'data',
          path: 'deploy/allow',
          revision: 'r1',
        },
        ...{
          outcome: 'deny',
          application: 'shop',
          executionId: null,
          caller,
          requestId: null,
          traceId: null,
        },
        error: null,
        ...{ result: '["no"]', isResultCut: false },
      },
    ])
  })

  test('has the beginning of a long result, without half a character', () => {
    const result = Buffer.from(`"x${'ü'.repeat(2000)}"`)
    const [decision] = reportOf({ result })?.decisions ?? []
    expect(decision).toMatchObject({ result: `"x${'ü'.repeat(1023)}`, isResultCut: true })
  })

  test('says how many were over the rate', () => {
    const reporter = new DecisionReporter({ reported: 'denied', perSecond: 1 })
    const row = batchRow(aBatch([anEntry({ outcome: 'deny', application: 'shop' })]), 0)
    for (let count = 0; count < 70; count += 1) reporter.offer(row, false)
    const report = reporter.take()
    expect([report?.decisions.length, report?.omitted]).toEqual([60, { over_rate: 10 }])
    expect(reporter.take()).toBeUndefined()
  })
})
