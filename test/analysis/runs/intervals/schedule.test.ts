import { describe, expect, test } from 'vitest'

import {
  intervalCount,
  intervalDueMs,
  intervalToJudge,
  intervalWindow,
} from '../../../../src/analysis/runs/intervals/schedule.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming } from '../../../support/analyses.js'

/** Minutes after the start of the run, and of the window's side. */
function minutes(ms: number): number {
  return (ms - START_MS) / MINUTE_MS
}

const EXAMPLES = [
  [
    'growing',
    {},
    [10, 20, 30],
    [
      [0, 10],
      [0, 20],
      [0, 30],
    ],
  ],
  [
    'sliding',
    { lookBackMs: 15 * MINUTE_MS },
    [10, 20, 30],
    [
      [0, 10],
      [5, 20],
      [15, 30],
    ],
  ],
  [
    'after a warm-up',
    { warmUpMs: 5 * MINUTE_MS },
    [15, 25, 35],
    [
      [5, 15],
      [5, 25],
      [5, 35],
    ],
  ],
  [
    'once its data have arrived',
    { delayMs: 2 * MINUTE_MS },
    [12, 22, 32],
    [
      [0, 10],
      [0, 20],
      [0, 30],
    ],
  ],
  [
    'with what is left over of the lifetime in the last one',
    { lifetimeMs: 29 * MINUTE_MS },
    [10, 29],
    [
      [0, 10],
      [0, 29],
    ],
  ],
  ['once, where the interval is the lifetime', { intervalMs: 30 * MINUTE_MS }, [30], [[0, 30]]],
  [
    'of seconds',
    { lifetimeMs: 0.1 * MINUTE_MS, intervalMs: 0.05 * MINUTE_MS },
    [0.05, 0.1],
    [
      [0, 0.05],
      [0, 0.1],
    ],
  ],
] as const

describe('the intervals of a run', () => {
  test.each(EXAMPLES)('are %s', (_, more, due, windows) => {
    const timing = makeTiming(more)
    const intervals = Array.from({ length: intervalCount(timing) }, (_each, index) => index + 1)
    const side = { scope: {}, startMs: START_MS }
    expect(intervals.map((interval) => minutes(intervalDueMs(timing, interval)))).toEqual(due)
    const seen = intervals.map((interval) => intervalWindow(timing, side, interval))
    expect(seen.map(({ startMs, endMs }) => [minutes(startMs), minutes(endMs)])).toEqual(windows)
  })

  test.each(EXAMPLES)('%s never see what is not there yet', (_, more) => {
    const timing = makeTiming(more)
    for (let interval = 1; interval <= intervalCount(timing); interval++) {
      const { endMs } = intervalWindow(timing, { scope: {}, startMs: timing.startedMs }, interval)
      expect(endMs).toBeLessThanOrEqual(intervalDueMs(timing, interval))
    }
  })

  test('see a baseline of yesterday as long as the canary of today', () => {
    const side = { scope: {}, startMs: START_MS - 1440 * MINUTE_MS }
    const { startMs, endMs } = intervalWindow(makeTiming(), side, 2)
    expect([minutes(startMs), minutes(endMs)]).toEqual([-1440, -1420])
  })
})

describe('the next interval of a run', () => {
  const growing = makeRunPlan()
  const sliding = makeRunPlan({ timing: makeTiming({ lookBackMs: 10 * MINUTE_MS }) })
  const kayenta = makeRunPlan({ judge: 'kayenta' })

  test.each([
    ['is the one after the last', growing, 0, 0, 10, 1],
    ['is the one after the last, a little late', growing, 0, 0, 35, 1],
    ['is the last one, five minutes after that was due', growing, 0, 0, 35.1, 3],
    ['is the one after the last where data of the past are looked at', growing, 0, 600, 600.1, 1],
    ['is the last one where even that takes too long', growing, 1, 600, 605.1, 3],
    ['is never left out of a sliding window', sliding, 1, 0, 600, 2],
    ['is never left out by Kayenta', kayenta, 0, 0, 600, 1],
  ])('%s', (_, plan, intervalsDone, registeredMinute, nowMinute, interval) => {
    const run = { intervalsDone, startedMs: START_MS + registeredMinute * MINUTE_MS }
    expect(intervalToJudge(plan, run, START_MS + nowMinute * MINUTE_MS)).toBe(interval)
  })
})
