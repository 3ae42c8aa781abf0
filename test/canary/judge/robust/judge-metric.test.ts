import { describe, expect, test } from 'vitest'

import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'
import type { Metric } from '../../../support/judge-metrics.js'

const { around, normal, SAME, wander, WORSE } = simulatedSeries()

describe('too little data', () => {
  test.each([
    [[1], [10]],
    [
      [1, 2],
      [10, 11],
    ],
    [
      [1, 2, 3],
      [4, 5, 6],
    ],
    [around(10, 1, 30), [1000]],
    [[null, null, 1, 2], around(10, 1, 30)],
  ])('is inconclusive, never high: %#', (control, experiment) => {
    const result = judgeOne({ control, experiment })
    expect(result).toMatchObject({ classification: 'Inconclusive', score: null, critical: false })
    expect(result.classificationReason).toMatch(/Too few/)
  })

  const wandering = { control: wander(0, 0.98), experiment: wander(0, 0.98) }

  test('is what points that hardly move are', () => {
    const result = judgeOne(wandering)
    expect(result.noData).toMatchObject({ state: 'tooFewPoints' })
    expect(result.finding?.effectiveN.control).toBeLessThan(8)
  })
})

describe('what a change looks like', () => {
  const wave = (index: number): number => 100 + 30 * Math.sin((index / 60) * 2 * Math.PI)
  const cases: (Metric & { name: string; is: string; test?: string })[] = [
    { name: 'the same values in another order', ...SAME, experiment: SAME.control.toReversed(), is: 'Pass' },
    { name: 'two samples of one distribution', ...SAME, is: 'Pass' },
    { name: 'a typical value that rose', ...WORSE, is: 'High', test: 'shift' },
    {
      name: 'a typical value that fell',
      control: WORSE.experiment,
      experiment: WORSE.control,
      is: 'Low',
      test: 'shift',
    },
    { name: 'a rise where a fall is harm', ...WORSE, canary: { direction: 'decrease' }, is: 'Pass' },
    {
      name: 'a rise where a rise is harm',
      ...WORSE,
      canary: { direction: 'increase' },
      is: 'High',
      test: 'shift',
    },
    {
      name: 'a sure rise within the margin',
      control: around(100, 1),
      experiment: around(103, 1),
      is: 'Pass',
    },
    {
      name: 'the same beyond a margin of its own',
      control: around(100, 1),
      experiment: around(103, 1),
      canary: { margin: 0.01 },
      is: 'High',
      test: 'shift',
    },
    {
      name: 'a rise below the allowed one',
      ...WORSE,
      canary: { effectSize: { allowedIncrease: 2 } },
      is: 'Pass',
    },
    {
      name: 'spikes in a fifth of the points',
      control: around(100),
      experiment: around(100).map((value, index) => (index % 5 === 2 ? 10 * value : value)),
      is: 'High',
      test: 'tail',
    },
    {
      name: 'drops in a third of the points',
      control: around(100),
      experiment: around(100).map((value, index) => (index % 3 === 2 ? 0 : value)),
      is: 'Low',
      test: 'tail',
    },
    {
      name: 'a spread four times as wide',
      control: around(100),
      experiment: around(100, 40),
      is: 'High',
      test: 'spread',
    },
    {
      name: 'two levels against one between them',
      control: points((index) => (index % 2 ? 5 : 103) + normal()),
      experiment: around(13, 2),
      is: 'Low',
      test: 'mean',
    },
    {
      name: 'a step in the middle',
      control: around(100),
      experiment: points((index) => (index < 30 ? 100 : 150) + 10 * normal()),
      is: 'High',
    },
    {
      name: 'two constants',
      control: points(() => 10),
      experiment: points(() => 11),
      is: 'High',
      test: 'gap',
    },
    {
      name: 'a constant within the margin',
      control: points(() => 100),
      experiment: points(() => 101),
      is: 'Pass',
    },
    {
      name: 'a wave on both sides',
      control: points((index) => wave(index) + 3 * normal()),
      experiment: points((index) => wave(index) + 3 * normal()),
      is: 'Pass',
    },
    {
      name: 'a rise on top of a common wave',
      control: points((index) => wave(index) + 3 * normal()),
      experiment: points((index) => 1.15 * wave(index) + 3 * normal()),
      is: 'High',
      test: 'shift',
    },
    {
      name: 'seven large values of ten, which Kayenta lets pass',
      control: points(() => 1),
      experiment: points((index) => (index % 10 < 7 ? 100 : 1)),
      is: 'High',
    },
    {
      name: 'values that are not 0 more often',
      control: points((index) => (index === 7 ? 0.3 : 0)),
      experiment: points((index) => (index % 4 === 1 ? 0.3 + 0.1 * normal() : 0)),
      is: 'High',
      test: 'occurrence',
    },
    {
      name: 'more events',
      control: points((index) => index % 2),
      experiment: points((index) => 1 + (index % 3)),
      canary: { kind: 'count' },
      is: 'High',
      test: 'rate',
    },
    {
      name: 'more events of more requests',
      control: points((index) => index % 2),
      experiment: points((index) => 2 * (index % 2)),
      exposure: { control: points(() => 100), experiment: points(() => 200) },
      is: 'Pass',
    },
    {
      name: 'clusters of events in more points for as many times more requests',
      control: points((index) => (index % 20 === 3 ? 4 : 0)),
      experiment: points((index) => (index % 4 === 1 ? 4 : 0)),
      exposure: { control: points(() => 100), experiment: points(() => 500) },
      is: 'Pass',
    },
    {
      name: 'clusters of events in more points for fewer requests',
      control: points((index) => (index % 20 === 3 ? 4 : 0)),
      experiment: points((index) => (index % 4 === 1 ? 4 : 0)),
      exposure: { control: points(() => 500), experiment: points(() => 100) },
      is: 'High',
      test: 'rate',
    },
    {
      name: 'points with one event each',
      control: points((index) => (index % 20 === 3 ? 1 : 0)),
      experiment: points((index) => (index % 6 === 1 ? 1 : 0)),
      is: 'High',
      test: 'occurrence',
    },
  ]

  test.each(cases)('$name: $is', (given) => {
    const { is, test: by } = given
    const result = judgeOne(given)
    expect(result.classification, result.classificationReason).toBe(is)
    expect(result.classificationReason).not.toBe('')
    const found = result.finding?.tests.filter(({ matters }) => matters).sort((a, b) => a.p - b.p)[0]
    if (by !== undefined) expect(found?.test).toBe(by)
  })

  test('sides that move together are paired', () => {
    const result = judgeOne(cases.find(({ name }) => name === 'a wave on both sides')!)
    expect(result.finding?.method).toBe('paired')
  })

  const slowFarApart = { control: wander(10, 0.97), experiment: wander(1000, 0.97) }

  test('slow values far apart are told apart though they are worth few points', () => {
    expect(judgeOne(slowFarApart).classification).toBe('High')
  })

  test('the interval holds the estimate and says what the p-value says', () => {
    for (const metric of [SAME, WORSE]) {
      const { estimate, confidenceInterval, tests, alpha } = judgeOne(metric).finding!
      const [lower, upper] = confidenceInterval
      expect(lower).toBeLessThanOrEqual(estimate)
      expect(upper).toBeGreaterThanOrEqual(estimate)
      const high = tests.find(({ test, change }) => test === 'shift' && change === 'High')!
      expect(high.p < alpha).toBe(lower > 0)
    }
  })
})
