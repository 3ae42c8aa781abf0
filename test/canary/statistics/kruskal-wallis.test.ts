import { describe, expect, it } from 'vitest'

import { chiSquareQuantile, kruskalWallis } from '../../../src/canary/statistics/kruskal-wallis.js'

const samples = (...values: number[][]): Float64Array[] => values.map((of) => Float64Array.from(of))

describe('kruskalWallis', () => {
  it('is 12 / (N (N + 1)) times the squared distances of the mean ranks, weighted by sizes', () => {
    expect(kruskalWallis(samples([1, 2], [3, 4], [5, 6]), 1)).toBeCloseTo((12 / 42) * 16, 12)
  })

  it('corrects ties', () => {
    // Ranks 1.5 and 1.5 against 3 and 4; one pair of equal values of four.
    const uncorrected = (12 / 20) * 2 * 2 * 1 ** 2
    expect(kruskalWallis(samples([1, 1], [2, 3]), 1)).toBeCloseTo(uncorrected / (1 - 6 / 60), 12)
  })

  it('is 0 for equal values, and falls with dependence', () => {
    expect(kruskalWallis(samples([3, 3], [3, 3]), 1)).toBe(0)
    expect(kruskalWallis(samples([1, 2], [3, 4], [5, 6]), 2)).toBeCloseTo((12 / 42) * 8, 12)
  })
})

describe('chiSquareQuantile', () => {
  it.each([
    [1, 1.3233],
    [3, 4.1083],
    [7, 9.0371],
  ])('with %d degrees of freedom has its upper quartile near %d', (freedom, quartile) => {
    expect(Math.abs(chiSquareQuantile(freedom, 0.6745) / quartile - 1)).toBeLessThan(0.02)
  })
})
