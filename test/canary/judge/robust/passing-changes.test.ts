import { describe, expect, test } from 'vitest'

import { makeRandom, ROWS } from '../../../../bench/judge/generate-pairs.js'
import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()

const control = around(100, 5)
const like = around(100, 5)
const leak = like.map((value, index) => (index < 48 ? value : value + 3 * (index - 46)))
const spike = like.map((value, index) => (index < 4 ? 3 * value : value))

test.each([
  [leak, 'High'],
  [leak.map((value) => 200 - value), 'Low'],
])('a canary that leaves its baseline late does not pass: %#', (experiment, is) => {
  expect(judgeOne({ control, experiment }).classification).toBe(is)
})

describe('a metric that passes', () => {
  test.each([
    [spike, /^The first 4 points of the canary are \d{3} % above the baseline\. Set warmUpMinutes/],
  ])('notes where the canary was away from its baseline: %#', (experiment, says) => {
    const result = judgeOne({ control, experiment })
    expect(result).toMatchObject({ classification: 'Pass', score: 100 })
    expect(result.notes).toEqual([expect.stringMatching(says)])
  })

  test('notes nothing where the canary stays with it, or goes where no harm is', () => {
    expect(judgeOne({ control, experiment: like }).notes).toBeUndefined()
    expect(judgeOne({ control, experiment: leak, canary: { direction: 'decrease' } }).notes).toBeUndefined()
  })

  test('is named by the reason of the run, which stays a success', () => {
    expect(judge([{ control, experiment: spike }]).score).toMatchObject({
      score: 100,
      classification: 'Success',
      classificationReason: 'No metric changed in a way that matters. Metrics with notes: m0',
    })
  })
})

test.each(ROWS.filter(({ name }) => name.startsWith('A/A') && !name.includes('of the traffic')))(
  'fewer than 5 of 100 pairs without a change have a note: $name',
  ({ make }) => {
    const random = makeRandom(3)
    const pairs = Array.from({ length: 200 }, () => judgeOne({ ...make(random) }))
    expect(pairs.filter(({ notes }) => notes !== undefined).length).toBeLessThan(10)
  },
)

describe('a start that differs', () => {
  test('is noted of counts, too', () => {
    const counts = (start: number): number[] =>
      points((at) => Math.round((at < 6 ? start : 1) * (20 + 6 * Math.sin(at * at))))
    const result = judgeOne({
      ...{ control: counts(1), experiment: counts(1.6) },
      canary: { kind: 'count', direction: 'increase' },
    })
    expect(result).toMatchObject({ classification: 'Pass', score: 100 })
    expect(result.notes).toEqual([expect.stringMatching(/^From point 1 to \d+ .*\. Set warmUpMinutes/)])
  })

  test('hides nothing of what comes after it', () => {
    const later = around(100, 8).map((value, at) => (at >= 30 && at < 42 ? 1.6 * value : value))
    const both = later.map((value, at) => (at < 8 ? 3 * value : value))
    for (const experiment of [later, both]) {
      expect(judgeOne({ control, experiment, canary: { direction: 'increase' } })).toMatchObject({
        classification: 'High',
        classificationReason: expect.stringMatching(/^From point (?:29|3\d) to/) as string,
      })
    }
  })
})
