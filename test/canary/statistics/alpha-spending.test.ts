import { describe, expect, test } from 'vitest'

import { spendAlpha } from '../../../src/canary/statistics/alpha-spending.js'

const ALPHA = 0.05

describe('the error of a run', () => {
  test('is all there is where a run has one interval', () => {
    expect(spendAlpha(ALPHA, undefined)).toBe(ALPHA)
    expect(spendAlpha(ALPHA, { interval: 1, intervals: 1 })).toBeCloseTo(ALPHA, 9)
  })

  test.each([2, 5, 12, 100])('is spent over %d intervals, no more and no less', (intervals) => {
    const spent = Array.from({ length: intervals }, (_, index) =>
      spendAlpha(ALPHA, { interval: index + 1, intervals }),
    )
    expect(spent.reduce((sum, part) => sum + part, 0)).toBeCloseTo(ALPHA, 9)
    expect(Math.min(...spent)).toBeGreaterThanOrEqual(0)
    expect(spent[0]).toBeLessThan(ALPHA / intervals)
  })

  // Lan and DeMets 1983: two-sided 0.05, halfway 0.0056 is spent.
  test('is spent late, as O’Brien and Fleming do', () => {
    expect(spendAlpha(ALPHA, { interval: 1, intervals: 2 })).toBeCloseTo(0.0056, 4)
  })

  test('that intervals left out did not spend is there for the next one', () => {
    const taken = [1, 2, 3].map((interval) => spendAlpha(ALPHA, { interval, intervals: 10 }))
    const last = spendAlpha(ALPHA, { interval: 10, intervals: 10, after: 3 })
    expect(last + taken.reduce((sum, part) => sum + part, 0)).toBeCloseTo(ALPHA, 9)
  })
})
