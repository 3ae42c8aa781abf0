import { describe, expect, test } from 'vitest'

import { seededRandom } from '../../../src/canary/judge/series/seeded-random.js'
import { medianDifference, orderedDifference } from '../../../src/canary/statistics/ordered-difference.js'
import { rankShift } from '../../../src/canary/statistics/rank-sum-tail.js'
import { rankSum } from '../../../src/canary/statistics/rank-sum.js'
import { normalScoreTest, shiftAtLevel } from '../../../src/canary/statistics/normal-scores.js'
import { normalUpperQuantile, normalUpperTail } from '../../../src/canary/statistics/normal.js'
import { sortedQuantile } from '../../../src/canary/statistics/quantile.js'
import { orderedMean, pseudoMedian, signedRank } from '../../../src/canary/judge/robust/tests/paired-test.js'
import { studentUpperQuantile, studentUpperTail } from '../../../src/canary/statistics/student.js'

const sorted = (...values: number[]): Float64Array => Float64Array.from(values).sort()

describe('distributions', () => {
  test.each([
    [0.5, 0],
    [0.025, 1.959963984540054],
    [0.01, 2.3263478740408408],
    [1e-10, 6.361340902404056],
    [0.975, -1.959963984540054],
  ])('the normal quantile of %d', (share, z) => {
    expect(normalUpperQuantile(share)).toBeCloseTo(z, 9)
    expect(normalUpperTail(z)).toBeCloseTo(share, 12)
  })

  test.each([
    [2.2281388519649385, 10, 0.025],
    [12.706204736432095, 1, 0.025],
    [-2.2281388519649385, 10, 0.975],
    [1.9799304050824413, 120, 0.025],
  ])("the tail of Student's distribution beyond %d with %d degrees of freedom", (t, freedom, share) => {
    expect(studentUpperTail(t, freedom)).toBeCloseTo(share, 9)
    if (t > 0) expect(studentUpperQuantile(share, freedom)).toBeCloseTo(t, 7)
  })

  test.each([
    [0.05, 0.175],
    [0.5, 1.75],
  ])('the quantile %d by linear interpolation', (share, value) => {
    expect(sortedQuantile(sorted(0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5), share)).toBeCloseTo(value, 12)
  })
})

describe('ranks', () => {
  test('equal values share the mean of their ranks', () => {
    expect(rankSum(sorted(1, 2, 2), sorted(2, 3))).toEqual({ sum: 7, ties: 24 })
  })

  test.each([
    [[10, 11], [1, 2], 1 / 6],
    [[4, 5, 6], [1, 2, 3], 1 / 20],
    [[1, 1, 1, 1, 10], [1, 1, 1, 1, 1], 1 / 2],
    [[2, 2, 3], [1, 2, 2], 0.3],
  ])('%j above %j has its exact probability', (first, second, p) => {
    expect(normalUpperTail(rankShift(sorted(...first), sorted(...second)).above)).toBeCloseTo(p, 9)
  })

  test('separate samples have a delta of 1, equal ones of 0', () => {
    expect(rankShift(sorted(4, 5), sorted(1, 2)).cliffsDelta).toBe(1)
    expect(rankShift(sorted(1, 2), sorted(1, 2)).cliffsDelta).toBe(0)
  })

  test('a shift at which the normal scores agree lies within half a step of the true one', () => {
    const base = Array.from({ length: 101 }, (_, index) => index)
    const scores = normalScoreTest(sorted(...base.map((value) => value + 7)), sorted(...base))
    expect(shiftAtLevel(scores, 0, [-93, 107], 0, 1)).toBeCloseTo(7, 0)
  })
})

describe('differences', () => {
  const uniform = seededRandom(5)
  const cases = [
    [1, 1],
    [7, 4],
    [30, 30],
    [61, 40],
  ].flatMap(([n = 0, m = 0]) =>
    [1, 1e-9, 1e9].map((scale) => {
      const sample = (count: number): Float64Array =>
        Float64Array.from({ length: count }, () => Math.round(uniform() * 20) * scale).sort()
      return { n, m, scale, x: sample(n), y: sample(m) }
    }),
  )

  test.each(cases)('of $n by $m values times $scale are found in order', ({ x, y }) => {
    const all = Float64Array.from(x)
      .reduce<number[]>((list, value) => [...list, ...Array.from(y, (other) => value - other)], [])
      .sort((a, b) => a - b)
    for (const k of [1, Math.ceil(all.length / 3), Math.ceil(all.length / 2), all.length]) {
      expect(orderedDifference(x, y, k)).toBe(all[k - 1])
    }
    const middle = (all[Math.ceil(all.length / 2) - 1]! + all[Math.floor(all.length / 2)]!) / 2
    expect(medianDifference(x, y)).toBe(middle)
  })

  test('of pairs are tested by their signed ranks', () => {
    const { above, below } = signedRank(sorted(-1, 2, 3, 4, 5))
    expect(above).toBeCloseTo((14 - 7.5 - 0.5) / Math.sqrt(13.75), 9)
    expect(below).toBeCloseTo((7.5 - 14 - 0.5) / Math.sqrt(13.75), 9)
  })

  test('of pairs have the centre of their means of two', () => {
    expect(pseudoMedian(sorted(1, 2, 3))).toBe(2)
    expect(orderedMean(sorted(1, 2, 3), 1)).toBe(1)
    expect(orderedMean(sorted(1, 2, 3), 6)).toBe(3)
  })
})
