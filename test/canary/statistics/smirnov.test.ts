import { expect, it } from 'vitest'

import { smirnovTail } from '../../../src/canary/statistics/smirnov.js'

const sorted = (...values: number[]): Float64Array => Float64Array.from(values).sort()

it('compares the largest distance of two distributions in one direction', () => {
  // All of the first above the second: exp(-2 * 1 * 16 / 8).
  expect(smirnovTail(sorted(5, 6, 7, 8), sorted(1, 2, 3, 4))).toBeCloseTo(Math.exp(-4), 12)
  expect(smirnovTail(sorted(1, 2, 3, 4), sorted(5, 6, 7, 8))).toBe(1)
})

it('gives ties to neither sample, and equal samples no evidence', () => {
  expect(smirnovTail(sorted(1, 1, 2, 3), sorted(1, 1, 2, 3))).toBe(1)
  // At 1, three of four and one of two: a distance of a half.
  expect(smirnovTail(sorted(1, 2), sorted(1, 1, 1, 1))).toBeCloseTo(Math.exp((-2 * 0.25 * 8) / 6), 12)
})

it('is weaker by the dependence in time', () => {
  expect(smirnovTail(sorted(5, 6, 7, 8), sorted(1, 2, 3, 4), 2)).toBeCloseTo(Math.exp(-2), 12)
})
