import { expect, test } from 'vitest'

import { frontShifts } from '../../../src/canary/judge/robust/vanished-start.js'
import { rankShift } from '../../../src/canary/statistics/rank-sum-tail.js'
import { simulatedSeries } from '../../support/judge-metrics.js'

const { normal } = simulatedSeries()

const draw = (count: number, shiftOf: (at: number) => number): Float64Array =>
  Float64Array.from({ length: count }, (_, at) => Math.round(10 * (normal() + shiftOf(at))) / 10)

test.each([
  ['of many values', 200, 60],
  ['of few, which are counted', 40, 12],
])('the fronts of a series %s are as far from what is behind them as two samples are', (_, count, most) => {
  for (const shift of [0, 1, -2]) {
    const values = draw(count, (at) => (at < most / 2 ? shift : 0))
    const shifts = frontShifts(values, most)
    expect(shifts).toHaveLength(most)
    for (const [at, found] of shifts.entries()) {
      const whole = rankShift(values.slice(0, at + 1).sort(), values.slice(at + 1).sort())
      const [score, expected] = [found, whole].map(({ above, below }) => Math.max(above, below))
      if (count > 50 || (expected ?? 0) > 3) expect(score).toBeCloseTo(expected ?? 0, 9)
      else expect(score).toBeLessThan(3)
    }
  }
})

test('equal values are far from nothing, and no front is longer than the series', () => {
  expect(frontShifts(new Float64Array(5).fill(7), 9).map(({ above }) => above)).toEqual([0, 0, 0, 0, 0])
})
