import { describe, expect, test } from 'vitest'

import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()

const diesAt = (values: readonly number[], start: number, end = values.length): number[] =>
  values.map((value, index) => (index >= start && index < end ? 0 : value))

describe('a canary whose values fall to 0', () => {
  const [control, experiment] = [around(100, 6), around(100, 6)]
  const falls = (points: number): string =>
    `The canary's values fell to 0 for the last ${points} of 60 points, the baseline's did not`

  test('is told by that, and not by the tests that it fails', () => {
    const result = judgeOne({
      control,
      experiment: diesAt(experiment, 30),
      canary: { direction: 'decrease' },
    })
    expect(result.classification).toBe('Low')
    expect(result.classificationReason).toMatch(falls(30))
  })

  test('is told by that where the tests know too little', () => {
    const up = points(() => 1)
    const result = judgeOne({ control: up, experiment: diesAt(up, 50), canary: { direction: 'decrease' } })
    expect(result).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining(falls(10)) as string,
    })
  })

  test('is told by that where nine in ten of its other points are not 0', () => {
    const sparse = experiment.map((value, index) => (index % 10 === 4 ? 0 : value))
    const canary = { direction: 'decrease' }
    expect(judgeOne({ control, experiment: diesAt(sparse, 50), canary }).classificationReason).toMatch(
      falls(10),
    )
    sparse[0] = 0
    expect(judgeOne({ control, experiment: diesAt(sparse, 50), canary }).classificationReason).not.toMatch(
      falls(10),
    )
  })

  test('is told by that where its latest point has no value yet', () => {
    const late = [...diesAt(experiment, 30, 59).slice(0, 59), null]
    const { classificationReason } = judgeOne({
      control,
      experiment: late,
      canary: { direction: 'decrease' },
    })
    expect(classificationReason).toMatch(falls(29))
  })

  test('says so of an outage that is over', () => {
    const up = points(() => 1)
    const { classificationReason } = judgeOne({ control: up, experiment: diesAt(up, 20, 32) })
    expect(classificationReason).toContain("The canary's values fell to 0 for 12 of 60 points")
  })

  test.each([
    ['beside a baseline that does too', { control: diesAt(control, 30), experiment: diesAt(experiment, 30) }],
    ['for a few points', { control, experiment: diesAt(experiment, 57) }],
  ])('is not told so %s', (_, metric) => {
    expect(judgeOne(metric).classificationReason).not.toContain('fell to 0')
  })
})

test('a burst of errors next to none is told as a burst, not as values that move slowly', () => {
  const experiment = points((index) => (index >= 40 && index < 46 ? 25 : 0))
  expect(judgeOne({ control: points(() => 0), experiment })).toMatchObject({
    classification: 'Inconclusive',
    classificationReason:
      '150 events, 0 in the baseline. The events come in bursts, which count as few. Check the bursts',
  })
})
