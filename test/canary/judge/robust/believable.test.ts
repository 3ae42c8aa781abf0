import { describe, expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, normal } = simulatedSeries()

const level = (value: number) => Array.from({ length: 60 }, (_, n) => value * (1 + 0.05 * Math.sin(n * 2.4)))
const counter = (from: number, step: number) => Array.from({ length: 60 }, (_, n) => from + n * step)

describe('what nobody would sign needs a review', () => {
  test.each([
    ['seconds beside milliseconds', level(120), level(0.12), 'is 1/1,000 of the'],
    ['milliseconds beside seconds', level(0.12), level(120), 'is 1,000 times the'],
    ['seconds that doubled beside milliseconds', level(120), level(0.24), 'is 1/500 of the'],
    ['counters that count since different starts', counter(1e6, 1), counter(0, 100), 'Query the rate'],
  ])('%s', (_, control, experiment, says) => {
    const direction = experiment[30]! < control[30]! ? 'increase' : 'decrease'
    const result = judgeOne({ control, experiment, canary: { direction } })
    expect(result.classification).toBe('Inconclusive')
    expect(result.classificationReason).toContain(says)
  })

  test.each([
    ['a level of half', level(100), level(50)],
    ['counters that count alike', counter(1e6, 50), counter(1e6 + 20, 50)],
    ['a hundredth of the traffic', level(100), level(1)],
  ])('but not %s', (_, control, experiment) => {
    expect(judgeOne({ control, experiment, canary: { direction: 'increase' } }).classification).toBe('Pass')
  })
})

test('what is no harm is said to have changed', () => {
  const result = judgeOne({ control: level(100), experiment: level(50), canary: { direction: 'increase' } })
  expect(result.classificationReason).toMatch(/^Lower, and only a rise is harm: -50 %/)
})

test('a level that is another one is named as such, and not by how the values spread', () => {
  const result = judgeOne({ control: level(120), experiment: level(0.12) })
  expect(result.classification).toBe('Low')
  expect(result.classificationReason).toContain('-100 %')
  expect(result.classificationReason).not.toContain('times as wide')
})

test.each([
  ['a share beside a percentage', level(0.5), level(50)],
  ['a percentage beside a share', level(50), level(0.5)],
])('what fails and may be %s is told so', (_, control, experiment) => {
  const result = judgeOne({ control, experiment, canary: { direction: 'either' } })
  expect(result.classification).toMatch(/High|Low/)
  expect(result.notes?.join()).toContain('Check whether both sides measure the same thing in the same unit')
})

test('single points far beyond the baseline are worth a look, and no more', () => {
  const spiked = level(100).map((value, n) => (n === 20 || n === 33 ? 2000 : value))
  const result = judgeOne({ control: level(100), experiment: spiked })
  expect(result.classification).toBe('Pass')
  expect(result.notes?.join()).toMatch(/2 points of the canary are far above the baseline's highest value/)
})

test('counters never fail, wherever they started', () => {
  const result = judgeOne({ control: counter(10, 3), experiment: counter(9000, 3) })
  expect(result).toMatchObject({ classification: 'Inconclusive', noData: { state: 'doubtful' } })
  expect(result.classificationReason).toContain('Query the rate')
})

test('three minutes of nothing where there never is nothing need a review', () => {
  const orders = around(60, 7)
  const experiment = around(60, 7).map((value, index) => (index >= 30 && index < 33 ? 0 : value))
  expect(judgeOne({ control: orders, experiment, canary: { direction: 'decrease' } })).toMatchObject({
    ...{
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining('fell to 0 for 3 of 60 points') as string,
    },
  })
})

test('a start that differs is noted and fails nothing', () => {
  const experiment = around(70, 5).map((value, index) => (index < 7 ? value * (2 - index / 7) : value))
  const result = judgeOne({ control: around(70, 5), experiment, canary: { direction: 'increase' } })
  expect(result).toMatchObject({ classification: 'Pass' })
  expect(result.notes?.join()).toContain('warmUpMinutes')
})

test('a canary that misses more of its points than its baseline is worth a look', () => {
  const experiment = around(100).map((value, index) => (index % 3 === 1 ? Number.NaN : value))
  expect(judgeOne({ control: around(100), experiment }).notes).toEqual([
    'The canary has a value in 40 of 60 points, the baseline in 60 of 60',
  ])
})

test('what is not proven is not said not to matter, and nothing falls by more than all', () => {
  const small = (level: number): number[] => points(() => level * Math.exp(normal()), 10)
  const reasons = Array.from(
    { length: 30 },
    () =>
      judgeOne({ control: small(1), experiment: small(2) }, { interval: { interval: 1, intervals: 5 } })
        .classificationReason,
  )
  expect(reasons.filter((reason) => /No change that matters: \+[6-9\d]\d+ %/.test(reason))).toEqual([])
  expect(reasons.filter((reason) => /No change is proven: \+\d/.test(reason)).length).toBeGreaterThan(5)
  expect(
    reasons.filter((reason) => /interval -1\d\d\d* %/.test(reason) && !reason.includes('-100 %')),
  ).toEqual([])
})

test('a canary with a tenth, or ten times, of the traffic is asked about as seldom as others', () => {
  const random = makeRandom(11)
  const side = (requests: number) => {
    const exposure = points(() => Math.max(1, Math.round(requests + Math.sqrt(requests) * random.normal())))
    return { exposure, values: exposure.map((each) => random.poisson(each * 0.01)) }
  }
  const asked = (canary: number): number =>
    Array.from({ length: 100 }, () => {
      const [control, experiment] = [side(900), side(canary)]
      const exposure = { control: control.exposure, experiment: experiment.exposure }
      return judgeOne({ control: control.values, experiment: experiment.values, exposure })
    }).filter(({ classification }) => classification === 'Inconclusive').length
  expect([asked(100), asked(9000)].filter((count) => count > 3)).toEqual([])
})

describe('of two kinds of values', () => {
  /** About 20 ms if a cache answers, 500 ms otherwise. */
  const mixed = (share: number, seed: number, noise: number): number[] => {
    const random = makeRandom(seed)
    return Array.from(
      { length: 120 },
      () => (random.uniform() < share ? 500 : 20) * (1 + noise * random.normal()),
    )
  }
  const verdict = (control: number[], experiment: number[]): string =>
    judgeOne({ control, experiment, canary: { direction: 'increase' } }).classification

  test.each([
    ['a tenth', 0.1, 0.4],
    ['a fifth', 0.2, 0.45],
    ['a quarter', 0.25, 0.6],
  ])('the dear kind is seen to come more often than in %s of the points', (_, before, after) => {
    for (const noise of [0, 0.05, 0.3]) {
      const verdicts = Array.from({ length: 20 }, (_, n) =>
        verdict(mixed(before, 100 + n, noise), mixed(after, 900 + n, noise)),
      )
      expect(verdicts.filter((one) => one === 'High').length, `noise ${noise}`).toBeGreaterThanOrEqual(17)
    }
  })

  test('a share that stayed as it was is no change', () => {
    const verdicts = Array.from({ length: 40 }, (_, n) =>
      verdict(mixed(0.3, 100 + n, 0.05), mixed(0.3, 200 + n, 0.05)),
    )
    expect(verdicts.filter((one) => one === 'High').length).toBeLessThanOrEqual(2)
  })
})
