import { describe, expect, test } from 'vitest'

import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, WORSE } = simulatedSeries()

const exposure = { control: points(() => 1000), experiment: points(() => 1000) }
const errors = (start: number, length: number): number[] =>
  points((at) => (at < length ? start : 1) * (3 + ((at * 7) % 5)))
const times = (factor: number, length: number): number[] =>
  around(100).map((value, at) => (at < length ? factor * value : value))

describe('a canary that is much worse at its start only', () => {
  test.each([
    ['ten times the errors', { control: errors(1, 0), experiment: errors(10, 10), exposure }],
    ['four times the errors', { control: errors(1, 0), experiment: errors(4, 10), exposure }],
    ['ten times the time', { control: WORSE.control, experiment: times(10, 10) }],
    [
      'a share of errors of which the baseline has none',
      { control: points(() => 0), experiment: points((at) => (at < 6 ? 2 + at / 10 : 0)) },
    ],
  ])('asks people: %s', (_, metric) => {
    expect(judgeOne({ ...metric, canary: { direction: 'increase' } })).toMatchObject({
      noData: { state: 'doubtful', policy: 'review' },
    })
  })

  test.each([
    ['half as slow again', times(1.5, 8)],
    ['ten times as slow for three points', times(10, 3)],
  ])('is a note where it is what a warm-up does: %s', (_, experiment) => {
    const result = judgeOne({ control: WORSE.control, experiment })
    expect(result).toMatchObject({
      classification: 'Pass',
      notes: [expect.stringContaining('warmUpMinutes')],
    })
  })

  test.each([4, 10])('passes where the baseline starts so too (%d times)', (factor) => {
    const control = errors(factor, 10)
    expect(
      judgeOne({ control, experiment: errors(factor, 10).map((value) => value + 1), exposure })
        .classification,
    ).toBe('Pass')
    expect(judgeOne({ control: times(factor, 10), experiment: times(factor, 10) }).classification).toBe(
      'Pass',
    )
  })
})
