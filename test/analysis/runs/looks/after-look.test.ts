import { describe, expect, test } from 'vitest'

import { afterLook } from '../../../../src/analysis/runs/looks/after-look.js'
import type { LookReport } from '../../../../src/analysis/runs/looks/look-report.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import { MINUTE_MS, START_MS, makeLookReport, makeRunPlan, makeTiming } from '../../../support/analyses.js'

const NOW_MS = START_MS + 10 * MINUTE_MS + 250
const SLIDING = { timing: makeTiming({ lookBackMs: 10 * MINUTE_MS }) }
const afterLooks = (looksDone: number) => ({ id: 7, looksDone })
const KAYENTA = { judge: 'kayenta' } as const

describe('a run after a look', () => {
  test.each<[string, Partial<RunPlan>, Partial<LookReport>, 'RUNNING' | 'COMPLETED']>([
    ['goes on after a success', {}, {}, 'RUNNING'],
    ['goes on after a review', {}, { verdict: 'Review', score: 80 }, 'RUNNING'],
    ['goes on after a failure that more data may mend', {}, { verdict: 'Fail', score: 0 }, 'RUNNING'],
    [
      'ends with a failure that nothing can mend',
      {},
      { verdict: 'Fail', score: 0, endsRun: true },
      'COMPLETED',
    ],
    ['ends with its last look', {}, { look: 3 }, 'COMPLETED'],
    ['ends with a failure of the Kayenta judge', KAYENTA, { verdict: 'Fail', score: 20 }, 'COMPLETED'],
    ['goes on after a review of the Kayenta judge', KAYENTA, { verdict: 'Review' }, 'RUNNING'],
    ['ends with a failure in a sliding window', SLIDING, { verdict: 'Fail' }, 'COMPLETED'],
    [
      'goes on after a failure in a sliding window for want of an answer',
      SLIDING,
      { verdict: 'Fail', isUnanswered: true },
      'RUNNING',
    ],
    ['goes on after a review in a sliding window', SLIDING, { verdict: 'Review' }, 'RUNNING'],
  ])('%s', (_, plan, report, state) => {
    expect(afterLook(afterLooks(0), makeRunPlan(plan), makeLookReport(report), NOW_MS).state).toBe(state)
  })

  test('that goes on knows when it is looked at again', () => {
    expect(afterLook(afterLooks(0), makeRunPlan(), makeLookReport(), NOW_MS)).toEqual({
      id: 7,
      state: 'RUNNING',
      looksDone: 1,
      score: 100,
      verdict: 'Success',
      message: 'look 1 of 3: all metrics pass',
      errors: [],
      updatedMs: NOW_MS,
      nextLookMs: START_MS + 20 * MINUTE_MS,
    })
  })

  test('that ends early says so', () => {
    const report = makeLookReport({ verdict: 'Fail', score: 0, reason: 'errors is High', endsRun: true })
    expect(afterLook(afterLooks(report.look - 1), makeRunPlan(), report, NOW_MS)).toMatchObject({
      message: 'errors is High (ended early, at look 1 of 3)',
      finishedMs: NOW_MS,
    })
  })

  test('that ends in its time just says why', () => {
    expect(afterLook(afterLooks(2), makeRunPlan(), makeLookReport({ look: 3 }), NOW_MS).message).toBe(
      'all metrics pass',
    )
  })

  test('says how many looks were left out', () => {
    const { message } = afterLook(afterLooks(0), makeRunPlan(), makeLookReport({ look: 3 }), NOW_MS)
    expect(message).toBe('all metrics pass (looks left out, the run being late: 2)')
  })
})
