import { describe, expect, test } from 'vitest'

import { afterInterval } from '../../../../src/analysis/runs/intervals/after-interval.js'
import type { IntervalReport } from '../../../../src/analysis/runs/intervals/interval-report.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import {
  MINUTE_MS,
  START_MS,
  makeIntervalReport,
  makeRunPlan,
  makeTiming,
} from '../../../support/analyses.js'

const NOW_MS = START_MS + 10 * MINUTE_MS + 250
const SLIDING = { timing: makeTiming({ lookBackMs: 10 * MINUTE_MS }) }
const afterIntervals = (intervalsDone: number) => ({ id: 7, intervalsDone })
const KAYENTA = { judge: 'kayenta' } as const

describe('a run after an interval', () => {
  test.each<[string, Partial<RunPlan>, Partial<IntervalReport>, 'RUNNING' | 'COMPLETED']>([
    ['goes on after a success', {}, {}, 'RUNNING'],
    ['goes on after a review', {}, { verdict: 'Review', score: 80 }, 'RUNNING'],
    ['goes on after a failure that more data may mend', {}, { verdict: 'Fail', score: 0 }, 'RUNNING'],
    [
      'ends with a failure that nothing can mend',
      {},
      { verdict: 'Fail', score: 0, endsRun: true },
      'COMPLETED',
    ],
    ['ends with its last interval', {}, { look: 3 }, 'COMPLETED'],
    ['ends with a failure of the Kayenta judge', KAYENTA, { verdict: 'Fail', score: 20 }, 'COMPLETED'],
    ['goes on after a review of the Kayenta judge', KAYENTA, { verdict: 'Review' }, 'RUNNING'],
    ['ends with a failure in a sliding window', SLIDING, { verdict: 'Fail' }, 'COMPLETED'],
    [
      'continues after a failure in a sliding window for want of an answer',
      SLIDING,
      { verdict: 'Fail', isUnanswered: true },
      'RUNNING',
    ],
    ['goes on after a review in a sliding window', SLIDING, { verdict: 'Review' }, 'RUNNING'],
  ])('%s', (_, plan, report, state) => {
    expect(
      afterInterval(afterIntervals(0), makeRunPlan(plan), makeIntervalReport(report), NOW_MS).state,
    ).toBe(state)
  })

  test('that goes on knows when it is looked at again', () => {
    expect(afterInterval(afterIntervals(0), makeRunPlan(), makeIntervalReport(), NOW_MS)).toEqual({
      id: 7,
      state: 'RUNNING',
      intervalsDone: 1,
      score: 100,
      verdict: 'Success',
      message: 'Interval 1 of 3: all metrics pass',
      errors: [],
      updatedMs: NOW_MS,
      nextIntervalMs: START_MS + 20 * MINUTE_MS,
    })
  })

  test('that ends early says so', () => {
    const report = makeIntervalReport({ verdict: 'Fail', score: 0, reason: 'errors is High', endsRun: true })
    expect(afterInterval(afterIntervals(report.look - 1), makeRunPlan(), report, NOW_MS)).toMatchObject({
      message: 'errors is High (ended early, at interval 1 of 3)',
      finishedMs: NOW_MS,
    })
  })

  test('that ends in its time just says why', () => {
    expect(
      afterInterval(afterIntervals(2), makeRunPlan(), makeIntervalReport({ look: 3 }), NOW_MS).message,
    ).toBe('all metrics pass')
  })

  test('says how many intervals were left out', () => {
    const { message } = afterInterval(
      afterIntervals(0),
      makeRunPlan(),
      makeIntervalReport({ look: 3 }),
      NOW_MS,
    )
    expect(message).toBe('all metrics pass (intervals skipped because the run was late: 2)')
  })
})
