import { describe, expect, test } from 'vitest'

import { RUN_ROWS } from '../../../bench/judge/generate-runs.js'
import { simulateCoverage, simulateRuns } from '../../../bench/judge/simulate-runs.js'

const RUNS = 40
/** Three runs of forty are consistent with three in a hundred. */
const SLACK = 7.5

describe('whole runs in small', () => {
  test.each(RUN_ROWS)('$name: $share at most in $limit % of them', (row) => {
    expect(simulateRuns(row, RUNS, 7)).toBeLessThanOrEqual(row.limit + SLACK)
  })
})

test.each([
  [1, 1],
  [1, 5],
  [20, 5],
])(
  'the interval of %d events a minute that become %d times as many holds that in 9 of 10 pairs',
  (perMinute, factor) => {
    const held = simulateCoverage({ perMinute, factor }, 300, 7)
    expect(held).toBeGreaterThan(85)
    expect(held).toBeLessThan(95)
  },
)
