import { describe, expect, test } from 'vitest'

import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()

const silentFrom = (values: ArrayLike<number>, start: number): (number | null)[] =>
  Array.from(values, (value, index) => (index < start ? value : null))

describe('a canary that falls silent', () => {
  const [control, experiment] = [around(100, 10), around(100, 10)]
  const end = control.length

  test.each([12, end - 6])('does not pass for what it said until point %d', (start) => {
    expect(judgeOne({ control, experiment: silentFrom(experiment, start) })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining(
        `no value in the last ${end - start} of ${end} points`,
      ) as string,
      noData: { state: 'doubtful', policy: 'review' },
    })
  })

  test.each(['remove', 'replace'] as const)(
    'is judged alike where its points are missing instead of null: nanStrategy %s',
    (nanStrategy) => {
      const metric = { control, experiment: experiment.slice(0, end / 2), canary: { nanStrategy } }
      expect(judgeOne(metric)).toMatchObject({
        classificationReason: expect.stringContaining(
          `no value in the last ${end / 2} of ${end} points`,
        ) as string,
        noData: { state: 'doubtful', policy: 'review' },
      })
    },
  )

  test('is worse for what it said all the same', () => {
    const result = judgeOne({ control, experiment: silentFrom(around(200, 10), end / 2) })
    expect(result.classification).toBe('High')
  })

  test.each([
    ['whose last points are late', { control, experiment: silentFrom(experiment, end - 4) }],
    [
      'next to a silent baseline',
      { control: silentFrom(control, 30), experiment: silentFrom(experiment, 30) },
    ],
    ['of a few points less', { control, experiment: experiment.slice(0, end - 4) }],
  ])('passes %s', (_, metric) => {
    expect(judgeOne(metric).classification).toBe('Pass')
  })
})

describe('a canary without values in its middle', () => {
  const [control, experiment] = [around(100, 10), around(100, 10)]
  const without = (values: ArrayLike<number>, from: number, to: number): (number | null)[] =>
    Array.from(values, (value, index) => (index >= from && index < to ? null : value))

  test('is not judged by the rest where the baseline has some', () => {
    expect(judgeOne({ control, experiment: without(experiment, 20, 35) })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining(
        'no value for 15 of 60 points from point 21 on',
      ) as string,
    })
  })

  test('is not judged by the rest where its last points are missing, too', () => {
    const shorter = without(experiment, 20, 35).slice(0, -2)
    expect(judgeOne({ control, experiment: shorter }).classificationReason).toContain(
      'no value for 15 of 60 points from point 21 on',
    )
  })

  test('is where the baseline has none there either', () => {
    const metric = { control: without(control, 20, 35), experiment: without(experiment, 20, 35) }
    expect(judgeOne(metric).classification).toBe('Pass')
  })

  test('and hardly any elsewhere is one that is seldom heard', () => {
    const seldom = without(experiment, 20, 35).map((value, index) => (index % 4 === 0 ? value : null))
    expect(judgeOne({ control, experiment: seldom }).classificationReason).not.toContain('from point 21 on')
  })
})

describe('errors in one burst', () => {
  const now = points((index) => (index % 20 === 0 ? 1 : 0))
  const burst = points((index) => (index >= 40 && index < 46 ? 25 : index % 20 === 0 ? 1 : 0))

  test('are no change that is proven, and no success either', () => {
    expect(judgeOne({ control: now, experiment: burst, canary: { direction: 'increase' } })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining(
        'The events come in bursts, which count as few',
      ) as string,
    })
  })

  test('are fine where they ended, and where fewer are harm', () => {
    expect(judgeOne({ control: burst, experiment: now }).classification).toBe('Pass')
    const canary = { direction: 'decrease' }
    expect(judgeOne({ control: now, experiment: burst, canary }).classification).toBe('Pass')
  })
})

test('points in a row far beyond the baseline are told with how far they are', () => {
  const [control, usual] = [around(200, 12), around(200, 12)]
  const experiment = usual.map((value, index) => (index >= 30 && index < 34 ? 2400 : value))
  expect(judgeOne({ control, experiment, canary: { direction: 'increase' } })).toMatchObject({
    classificationReason: expect.stringMatching(
      /^4 points of the canary are far above the baseline's highest value of 2\d\d: typically 2,400 \(\+1,[01]00 % of the baseline's typical value\)\. Check these points$/,
    ) as string,
    noData: { state: 'doubtful', policy: 'review' },
  })
})

test('a canary that fell to 0 needs a review, whatever is said of too few points', () => {
  const control = points((index) => 1000 + (index % 7))
  const experiment = control.map((value, index) => (index >= 30 && index < 38 ? 0 : value))
  const canary = { noData: { tooFewPoints: 'ignore' } }
  expect(judgeOne({ control, experiment, canary }).noData).toEqual({ state: 'doubtful', policy: 'review' })
})

describe('a canary that keeps its last value', () => {
  const [control, experiment] = [around(50, 5), around(50, 5)]
  const stuckFrom = (start: number, value = 51.237): number[] =>
    experiment.map((own, index) => (index < start ? own : value))

  test.each([0, 20, 45])('from point %d on is not judged by how little it varies', (start) => {
    expect(judgeOne({ control, experiment: stuckFrom(start) })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: `The last ${60 - start} points of the canary all have the value 51.2, while the baseline changes. Check whether the canary is still measured`,
    })
  })

  test.each([20, 30])('from point %d on, far from the baseline, is worse all the same', (start) => {
    expect(judgeOne({ control, experiment: stuckFrom(start, 90) }).classification).toBe('High')
  })

  test.each([
    ['for a moment', { control, experiment: stuckFrom(52) }],
    ['as its baseline does', { control: points(() => 50), experiment: points(() => 50.5) }],
  ])('%s passes', (_, metric) => {
    expect(judgeOne(metric).classification).toBe('Pass')
  })
})

describe('a canary of rare events that are not whole', () => {
  const events = Array.from({ length: 60 }, (_, index) =>
    index % 12 === 5 ? 1 + (Math.floor(index / 12) % 2) : 0,
  )
  const halves = events.map((value) => value / 2)

  test('needs a review next to whole numbers of events', () => {
    expect(judgeOne({ control: events, experiment: halves })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining('All values of the baseline are whole numbers') as string,
      noData: { state: 'doubtful', policy: 'review' },
    })
  })

  test.each([
    ['next to a baseline of such parts', { control: halves, experiment: halves.toReversed() }],
    ['whose few requests make its shares whole', { control: halves, experiment: events.toReversed() }],
    [
      'with one such value',
      { control: events, experiment: events.map((value, at) => (at === 5 ? 0.5 : value)) },
    ],
  ])('passes %s', (_, metric) => {
    expect(judgeOne(metric).classification).toBe('Pass')
  })
})
