import { describe, expect, test } from 'vitest'

import { SIMULATED, simulateIntervals } from '../../../bench/logs/simulate-intervals.js'
import { judge, logSide } from '../../support/logs/log-side.js'

const RUNS = 30
const INTERVALS = 6

function share(name: string): number {
  const simulated = SIMULATED.find((other) => other.name === name)
  if (simulated === undefined) throw new Error(`nothing is simulated as ${name}`)
  return (
    simulateIntervals(simulated, { runs: RUNS, intervals: INTERVALS, seed: 7, isSpent: true }).atAnyInterval /
    RUNS
  )
}

describe('over all intervals of a run', () => {
  // Two and a half standard errors above 5 %. Without spending, the first row flags one run of four
  // over twelve intervals.
  test.each(['alike, 20 kinds, 6 an hour, new ever', 'alike, 10 kinds, 6 an hour, new ever, sliding'])(
    'a canary is seldom blamed for what is chance: %s',
    (name) => {
      expect(share(name)).toBeLessThanOrEqual(0.15)
    },
  )

  test('a canary that logs an error five times as often is still found', () => {
    expect(share('1 of 5 kinds x5, 10 an hour')).toBeGreaterThan(0.9)
  })
})

describe('what one interval may blame a canary for', () => {
  const ORDINARY = { text: 'INFO request {n} served', times: 600 }
  const baseline = logSide([ORDINARY])
  const canary = (times: number) => logSide([ORDINARY, { text: 'ERROR order {n} not stored', times }])

  test.each([
    [8, { interval: 1, intervals: 1 }, true],
    [8, { interval: 1, intervals: 12 }, false],
    [8, { interval: 12, intervals: 12 }, true],
    [60, { interval: 1, intervals: 12 }, true],
  ])('%d errors against none at interval %o: %s', (times, interval, isUnexpected) => {
    expect(judge(baseline, canary(times), { interval }).report.findings).toMatchObject([{ isUnexpected }])
  })

  test('a single critical error that people named counts at the first of many intervals all the same', () => {
    const fatal = logSide([ORDINARY, { text: 'FATAL order {n} lost', times: 1 }])
    const topics = [{ string: 'lost', severity: 'critical', isOwn: true }] as const
    expect(judge(baseline, fatal, { topics, interval: { interval: 1, intervals: 12 } }).report).toMatchObject(
      {
        verdict: 'Fail',
        endsRun: true,
      },
    )
  })
})
