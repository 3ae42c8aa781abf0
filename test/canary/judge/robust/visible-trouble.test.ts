import { describe, expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, normal } = simulatedSeries()

/** 2 for a success, 1 for a review, 0 for a failure. */
const RANKS: Readonly<Record<string, number>> = { Success: 2, Review: 1, Fail: 0 }
const rankOf = (control: number[], experiment: number[]): number =>
  RANKS[judge([{ control, experiment }]).verdict] ?? -1

/** The same canary with its first points, in a mixed order, at another level. */
const withSpikes = (usual: readonly number[], count: number, factor: number): number[] =>
  usual.map((value, index) => ((index * 37 + 7) % usual.length < count ? factor * value : value))

describe('spikes', () => {
  test.each([3, 4, 6, 8, 15, 30, 60])(
    '%i of 60 points at 20 times the level ask for a review at least',
    (count) => {
      expect(rankOf(around(100), withSpikes(around(100), count, 20))).toBeLessThan(2)
    },
  )

  test('one point at 20 times the level is a note', () => {
    const { classification, notes } = judgeOne({
      control: around(100),
      experiment: withSpikes(around(100), 1, 20),
    })
    expect(classification).toBe('Pass')
    expect(notes?.join()).toContain('One point of the canary is far above')
  })

  test.each([
    ['even', (random: ReturnType<typeof makeRandom>) => 100 + 10 * random.normal()],
    ['heavy-tailed', (random: ReturnType<typeof makeRandom>) => 100 * Math.exp(0.8 * random.normal())],
    [
      'of two kinds',
      (random: ReturnType<typeof makeRandom>) => (random.uniform() < 0.3 ? 400 : 100) + random.normal(),
    ],
  ])('more or larger ones never get a better verdict: %s values', (_, value) => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const random = makeRandom(seed)
      const [control, usual] = [points(() => value(random)), points(() => value(random))]
      for (const factor of [3, 5, 20]) {
        const byCount = [0, 1, 2, 4, 6, 9, 14, 20, 30, 45, 60].map((count) =>
          rankOf(control, withSpikes(usual, count, factor)),
        )
        expect(byCount, `seed ${seed}, ${factor} times`).toEqual(byCount.toSorted((a, b) => b - a))
      }
      const bySize = [1, 2, 4, 8, 20, 100, 1e4].map((factor) => rankOf(control, withSpikes(usual, 6, factor)))
      expect(bySize, `seed ${seed}, 6 points`).toEqual(bySize.toSorted((a, b) => b - a))
    }
  })
})

describe('values of two kinds', () => {
  const mixed = (share: number, count: number): number[] =>
    points((index) => ((index * 37) % count < share * count ? 200 : 20) + normal(), count)

  test.each([60, 240])('more slow requests of %i raise the mean and fail', (count) => {
    const result = judgeOne({ control: mixed(1 / 2, count), experiment: mixed(5 / 6, count) })
    expect(result.classification, result.classificationReason).toBe('High')
    expect(result.classificationReason).toContain('The mean changed by +5')
  })

  test('fewer slow requests pass where only a rise is harm', () => {
    const canary = { direction: 'increase' }
    expect(judgeOne({ control: mixed(5 / 6, 60), experiment: mixed(1 / 2, 60), canary }).classification).toBe(
      'Pass',
    )
  })

  test('a change of the mean within the margin passes', () => {
    const [control, experiment] = [mixed(5 / 6, 240), mixed(5 / 6, 240).map((value) => value * 1.02)]
    expect(judgeOne({ control, experiment }).classification).toBe('Pass')
  })
})

describe('confidence intervals and margins', () => {
  const smooth = (level: number, reach: number): number[] =>
    points((index) => level + reach * Math.sin(index / 5), 30)

  test('a fall by half between smooth values is a change', () => {
    const result = judgeOne({ control: smooth(57, 6), experiment: smooth(29, 3) })
    expect(result.classification, result.classificationReason).toBe('Low')
  })

  test('a fall by half in noisy values is no success', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      const random = makeRandom(seed)
      const noisy = (level: number): number[] => points(() => level * Math.exp(0.5 * random.normal()), 40)
      const { classification, classificationReason } = judgeOne({
        control: noisy(100),
        experiment: noisy(50),
      })
      expect(classification, classificationReason).not.toBe('Pass')
    }
  })

  test('an interval wholly beyond the margin is never a pass', () => {
    for (const level of [80, 70, 60, 45, 30]) {
      const result = judgeOne({ control: smooth(100, 8), experiment: smooth(level, 8) })
      const upper = result.finding?.relative?.interval[1] ?? 0
      if (upper < -0.05) expect(result.classification, `${level}`).not.toBe('Pass')
    }
  })

  test('slow values within the margin pass, whatever their number of effective points', () => {
    const slow = (phase: number): number[] => points((index) => 1000 + 4 * Math.sin(index / 20 + phase))
    const result = judgeOne({ control: slow(0), experiment: slow(1) })
    expect(result.classification, result.classificationReason).toBe('Pass')
    expect(result.classificationReason).toContain('proven within 5 %')
  })

  test('slow values that may differ by more than the margin need a review', () => {
    const slow = (phase: number): number[] => points((index) => 1000 + 200 * Math.sin(index / 20 + phase))
    expect(judgeOne({ control: slow(0), experiment: slow(0.4) }).classification).toBe('Inconclusive')
  })
})

describe('a calmer canary', () => {
  test.each([5, 2, 0.1])('passes with a deviation of %d instead of 10', (deviation) => {
    const result = judgeOne({ control: around(100), experiment: around(100, deviation) })
    expect(result.classification, result.classificationReason).toBe('Pass')
  })
})
