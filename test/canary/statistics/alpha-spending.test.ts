import { describe, expect, test } from 'vitest'

import { spendAlpha } from '../../../src/canary/statistics/alpha-spending.js'

const ALPHA = 0.05

describe('the error of a run', () => {
  test('is all there is where a run has one look', () => {
    expect(spendAlpha(ALPHA, undefined)).toBe(ALPHA)
    expect(spendAlpha(ALPHA, { look: 1, looks: 1 })).toBeCloseTo(ALPHA, 9)
  })

  test.each([2, 5, 12, 100])('is spent over %d looks, no more and no less', (looks) => {
    const spent = Array.from({ length: looks }, (_, index) => spendAlpha(ALPHA, { look: index + 1, looks }))
    expect(spent.reduce((sum, part) => sum + part, 0)).toBeCloseTo(ALPHA, 9)
    expect(Math.min(...spent)).toBeGreaterThanOrEqual(0)
    expect(spent[0]).toBeLessThan(ALPHA / looks)
  })

  // Lan and DeMets 1983: two-sided 0.05, halfway 0.0056 is spent.
  test('is spent late, as O’Brien and Fleming do', () => {
    expect(spendAlpha(ALPHA, { look: 1, looks: 2 })).toBeCloseTo(0.0056, 4)
  })

  test('that looks left out did not spend is there for the next one', () => {
    const taken = [1, 2, 3].map((look) => spendAlpha(ALPHA, { look, looks: 10 }))
    const last = spendAlpha(ALPHA, { look: 10, looks: 10, after: 3 })
    expect(last + taken.reduce((sum, part) => sum + part, 0)).toBeCloseTo(ALPHA, 9)
  })
})
