import { describe, expect, it } from 'vitest'

import { benjaminiHochberg } from '../../../src/canary/statistics/benjamini-hochberg.js'
import { betaDistribution, betaQuantile, betaUpperTail } from '../../../src/canary/statistics/beta.js'
import {
  binomialLowerTail,
  binomialUpperTail,
  clopperPearson,
} from '../../../src/canary/statistics/binomial.js'
import { fisherExact } from '../../../src/canary/statistics/fisher-exact.js'
import { logBeta, logChoose, logGamma } from '../../../src/canary/statistics/log-gamma.js'

/**
 * The sum of the probabilities themselves, each by products: slow, but without any shared formula.
 */
function summedTail(from: number, trials: number, probability: number): number {
  let sum = 0
  for (let k = from; k <= trials; k += 1) {
    let mass = 1
    for (let i = 0; i < k; i += 1) mass *= ((trials - i) / (k - i)) * probability
    sum += mass * (1 - probability) ** (trials - k)
  }
  return sum
}

describe('log-gamma', () => {
  it.each([
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [1, 0],
    [2, 0],
    [5, Math.log(24)],
    [11, Math.log(3_628_800)],
    [171, 706.5730622457874],
  ])('gives ln gamma(%f)', (x, expected) => {
    expect(logGamma(x)).toBeCloseTo(expected, 12)
  })

  it('gives the same beta for large arguments as for the steps towards them', () => {
    // B(a + 1, b) = B(a, b) a / (a + b)
    expect(logBeta(1e6 + 1, 1e6) - logBeta(1e6, 1e6)).toBeCloseTo(Math.log(0.5), 9)
    expect(logBeta(15, 14.5) - logBeta(14, 14.5)).toBeCloseTo(Math.log(14 / 28.5), 12)
  })

  it('counts choices', () => {
    expect(Math.exp(logChoose(52, 5))).toBeCloseTo(2_598_960, 4)
    expect([logChoose(7, 0), logChoose(7, 7)]).toEqual([0, 0])
  })
})

describe('the beta distribution', () => {
  it.each([
    [0.3, 1, 1, 0.3],
    [0.3, 2, 1, 0.09],
    [0.5, 7, 7, 0.5],
    [0.25, 0.5, 0.5, 1 / 3],
  ])('I_%f(%f, %f) = %f', (x, a, b, expected) => {
    expect(betaDistribution(x, a, b)).toBeCloseTo(expected, 13)
    expect(betaUpperTail(x, a, b)).toBeCloseTo(1 - expected, 13)
  })

  it('stays within its bounds and ends at them', () => {
    expect([betaDistribution(0, 2, 3), betaDistribution(1, 2, 3)]).toEqual([0, 1])
    expect([betaUpperTail(0, 2, 3), betaUpperTail(1, 2, 3)]).toEqual([1, 0])
  })

  it.each([
    [0.025, 5, 6],
    [0.975, 5, 6],
    [0.001, 0.5, 40],
    [0.5, 1e5, 2e5],
    [1e-9, 3, 3],
  ])('finds the quantile %f of Beta(%f, %f)', (share, a, b) => {
    expect(betaDistribution(betaQuantile(share, a, b), a, b) / share).toBeCloseTo(1, 8)
  })
})

describe('the binomial tests', () => {
  it.each([
    [7, 7, 0.5],
    [8, 10, 0.5],
    [3, 40, 0.02],
    [30, 60, 0.4],
    [1, 5, 0.9],
  ])('sum the upper tail from %d of %d at %f', (k, n, p) => {
    const upper = summedTail(k, n, p)
    expect(binomialUpperTail(k, n, p) / upper).toBeCloseTo(1, 10)
    expect(binomialLowerTail(k - 1, n, p)).toBeCloseTo(1 - upper, 12)
  })

  it('keep the digits of tails far below the precision of a double', () => {
    expect(binomialUpperTail(1000, 1000, 0.5) / 2 ** -1000).toBeCloseTo(1, 9)
    expect(binomialLowerTail(0, 1000, 0.5) / 2 ** -1000).toBeCloseTo(1, 9)
  })

  it('have nothing beyond what can happen', () => {
    expect([binomialUpperTail(0, 5, 0.3), binomialUpperTail(6, 5, 0.3)]).toEqual([1, 0])
    expect([binomialLowerTail(-1, 5, 0.3), binomialLowerTail(5, 5, 0.3)]).toEqual([0, 1])
  })

  // Published with the method: 10 of 100 gives 4.90 % to 17.62 %.
  it('give the interval of Clopper and Pearson', () => {
    const { lower, upper } = clopperPearson(10, 100, 0.95)
    expect([lower, upper].map((bound) => bound.toFixed(4))).toEqual(['0.0490', '0.1762'])
    const none = clopperPearson(0, 10, 0.95)
    const all = clopperPearson(10, 10, 0.95)
    expect([none.lower, all.upper]).toEqual([0, 1])
    expect(none.upper).toBeCloseTo(1 - 0.025 ** 0.1, 12)
    expect(all.lower).toBeCloseTo(0.025 ** 0.1, 12)
  })
})

describe("Fisher's exact test", () => {
  // The lady tasting tea: 3 of 4 cups right has 17/70.
  it('gives the probabilities of the tea cups', () => {
    const result = fisherExact({ canaryEvents: 3, canaryOthers: 1, baselineEvents: 1, baselineOthers: 3 })
    expect(result.greater).toBeCloseTo(17 / 70, 12)
    expect(result.less).toBeCloseTo(69 / 70, 12)
    expect(result.twoSided).toBeCloseTo(34 / 70, 12)
  })

  it('finds nothing where there are no events', () => {
    const result = fisherExact({ canaryEvents: 0, canaryOthers: 9, baselineEvents: 0, baselineOthers: 8 })
    expect(result).toEqual({ greater: 1, less: 1, twoSided: 1 })
  })
})

describe('Benjamini and Hochberg', () => {
  it('adjusts in the order given', () => {
    expect(benjaminiHochberg([0.04, 0.01, 0.03, 0.5]).map((p) => Number(p.toFixed(6)))).toEqual([
      0.053333, 0.04, 0.053333, 0.5,
    ])
  })

  it('has nothing to adjust without tests, and leaves a single one as it is', () => {
    expect(benjaminiHochberg([])).toEqual([])
    expect(benjaminiHochberg([0.2])).toEqual([0.2])
  })
})
