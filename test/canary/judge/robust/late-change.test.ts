import { describe, expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judge, judgeOne, points } from '../../../support/judge-metrics.js'

type Random = ReturnType<typeof makeRandom>

/** Response times of a cache: hits of about 4 and misses of about 40. */
const cached = (random: Random, misses = 0.4): number[] =>
  points(() => (random.uniform() < misses ? 40 : 4) * Math.exp(0.2 * random.normal()))
const fromPoint = (values: readonly number[], start: number, factor: number): number[] =>
  values.map((value, index) => (index < start ? value : factor * value))

describe('values of two kinds that double in the last third', () => {
  test('hardly ever pass', () => {
    let passed = 0
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = makeRandom(seed)
      const { classification } = judgeOne({
        control: cached(random),
        experiment: fromPoint(cached(random), 40, 2),
      })
      if (classification === 'Pass') passed += 1
    }
    expect(passed).toBeLessThanOrEqual(6)
  })

  test('need a review that names the stretch and the change of the mean', () => {
    const random = makeRandom(4)
    const reasons = Array.from({ length: 20 }, () =>
      judgeOne({ control: cached(random), experiment: fromPoint(cached(random), 40, 2) }),
    ).map(({ classificationReason }) => classificationReason)
    expect(reasons.join()).toMatch(
      /From point (31|41|46) to the end the values of the canary are higher: the mean changed by \+\d+ % of the baseline's, the typical value by \+\d+ % \(p 0\.\d+\)\. No test proves a change/,
    )
  })

  test('pass if the baseline doubles with them', () => {
    let passed = 0
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = makeRandom(seed)
      const [control, experiment] = [fromPoint(cached(random), 40, 2), fromPoint(cached(random), 40, 2)]
      if (judgeOne({ control, experiment }).classification === 'Pass') passed += 1
    }
    expect(passed).toBeGreaterThanOrEqual(17)
  })

  test('pass if only a fall is harm', () => {
    const random = makeRandom(2)
    const [control, experiment] = [cached(random), fromPoint(cached(random), 40, 2)]
    expect(judgeOne({ control, experiment, canary: { direction: 'decrease' } }).classification).toBe('Pass')
  })
})

describe('pairs without a change', () => {
  test.each([
    ['of two kinds', (random: Random) => cached(random)],
    ['of even noise', (random: Random) => points(() => 100 + 10 * random.normal())],
    ['with a heavy tail', (random: Random) => points(() => Math.exp(random.normal()))],
    ['of small counts', (random: Random) => points(() => random.poisson(2))],
  ])('rarely need a review: values %s', (_, side) => {
    let reviews = 0
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = makeRandom(seed)
      const { classification } = judgeOne({ control: side(random), experiment: side(random) })
      if (classification === 'Inconclusive') reviews += 1
    }
    expect(reviews).toBeLessThanOrEqual(14)
  })
})

describe('more trouble is never judged better', () => {
  const RANKS: Readonly<Record<string, number>> = { Success: 2, Review: 1, Fail: 0 }
  const FACTORS = [1, 1.3, 1.6, 2, 3, 5, 10, 100]
  const troubles: readonly (readonly [string, (usual: readonly number[], factor: number) => number[]])[] = [
    ['a step in the middle', (usual, factor) => fromPoint(usual, 30, factor)],
    ['a step in the last third', (usual, factor) => fromPoint(usual, 40, factor)],
    ['a step in the last sixth', (usual, factor) => fromPoint(usual, 50, factor)],
    ['a rise of the whole window', (usual, factor) => fromPoint(usual, 0, factor)],
    ['a ramp', (usual, factor) => usual.map((value, index) => value * (1 + ((factor - 1) * index) / 60))],
  ]

  test.each(troubles)('%s that grows', (_, worsen) => {
    for (const [name, value] of [
      ['even', (random: Random) => 100 + 10 * random.normal()],
      ['two kinds', (random: Random) => (random.uniform() < 0.3 ? 400 : 100) + random.normal()],
      ['counts', (random: Random) => random.poisson(6)],
    ] as const) {
      for (let seed = 1; seed <= 6; seed += 1) {
        const random = makeRandom(seed)
        const [control, usual] = [points(() => value(random)), points(() => value(random))]
        const ranks = FACTORS.map(
          (factor) => RANKS[judge([{ control, experiment: worsen(usual, factor) }]).verdict] ?? -1,
        )
        expect(ranks, `${name}, seed ${seed}`).toEqual(ranks.toSorted((a, b) => b - a))
      }
    }
  })

  test('with fewer and fewer values', () => {
    const random = makeRandom(3)
    const [control, usual] = [1, 2].map(() => points(() => 100 + 10 * random.normal())) as [
      number[],
      number[],
    ]
    const ranks = [0, 10, 20, 30, 40, 50, 60].map((missing) => {
      const experiment = usual.map((value, index) => ((index * 37) % 60 < missing ? null : value))
      return RANKS[judge([{ control, experiment }]).verdict] ?? -1
    })
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a))
    expect(ranks.slice(3)).toEqual([1, 1, 1, 1])
  })
})
