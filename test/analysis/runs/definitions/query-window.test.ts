import fc from 'fast-check'
import { expect, test } from 'vitest'

import { windowInSteps } from '../../../../src/analysis/runs/intervals/judged-series.js'

const MINUTE_MS = 60_000

test.each([
  ['sum(rate(x[5m]))', 5],
  ['rate(x[1m]) / rate(y[10m])', 10],
  ['increase(x[30s])', 1],
  ['max_over_time(rate(x[2m])[1h:1m])', 60],
  ['rate(x[1h30m])', 90],
  ['count_over_time({app="shop"} |= "[5m]" [3m])', 3],
  ['avg(x)', undefined],
  ['avg(x{pod=~"a[0-9]"})', undefined],
  ['${version}.csv#errors', undefined],
])('a value of %s spans %s steps of a minute', (query, steps) => {
  expect(windowInSteps(query, MINUTE_MS)).toBe(steps)
})

test('whatever a query is, its window is a number of steps or not known', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 1000, max: 3_600_000 }), (query, stepMs) => {
      const steps = windowInSteps(query, stepMs)
      expect(steps === undefined || (Number.isInteger(steps) && steps >= 1)).toBe(true)
    }),
    { numRuns: 200 },
  )
})
