import { describe, expect, test } from 'vitest'

import { makeRandom, ROWS } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points } from '../../../support/judge-metrics.js'

const exposure = { control: points(() => 2000), experiment: points(() => 200) }
/**
 * Errors in a tenth of the requests during bursts of this many points, and in a thousandth
 * otherwise.
 */
const bursts = (requests: number, starts: readonly number[], length: number, share = 0.1): number[] =>
  points((at) =>
    Math.round(requests * (starts.some((start) => at >= start && at < start + length) ? share : 0.001)),
  )

describe('errors that come in bursts on both sides', () => {
  test.each([3, 8])('pass where both have as many of %d points', (length) => {
    const result = judgeOne({
      ...{ control: bursts(2000, [4, 30], length), experiment: bursts(200, [17, 44], length), exposure },
      canary: { direction: 'increase' },
    })
    expect(result).toMatchObject({ classification: 'Pass', noData: null })
  })

  test('are told with how little their points are worth', () => {
    const { classificationReason } = judgeOne({
      ...{ control: bursts(2000, [4, 40], 9), experiment: bursts(200, [20, 45], 9), exposure },
    })
    expect(classificationReason).toMatch(
      /^No change is proven: .* Effective samples: \d\.\d, since the events come in bursts$/u,
    )
  })

  test.each([
    ['one of eight points', [4, 30], [17, 44], 8],
    ['four of one point each', [4, 12, 30, 51], [7, 17, 28, 44], 1],
  ])(
    'ask people where those of the canary are higher than any of the baseline: %s',
    (_, before, now, length) => {
      const control = bursts(2000, before, length)
      const result = judgeOne({ control, experiment: bursts(200, now, length, 0.4), exposure })
      expect(result).toMatchObject({ noData: { state: 'doubtful', policy: 'review' } })
    },
  )
})

describe('one burst next to a baseline that has no error', () => {
  const one = (length: number): number[] => points((at) => (at >= 20 && at < 20 + length ? 40 : 0))
  const control = points(() => 0)

  test('needs a review from four points on', () => {
    expect(judgeOne({ control, experiment: one(4), exposure })).toMatchObject({
      classificationReason: expect.stringContaining(
        'The events come in bursts, which count as few',
      ) as string,
      noData: { state: 'doubtful', policy: 'review' },
    })
  })

  test('is a note where it is shorter, unless the metric is critical', () => {
    expect(judgeOne({ control, experiment: one(2), exposure })).toMatchObject({
      classification: 'Pass',
      notes: [expect.stringMatching(/^80 events in 12,000, 0 in 120,000 in the baseline/u)],
    })
    const canary = { critical: true }
    expect(judgeOne({ control, experiment: one(2), exposure, canary }).noData?.state).toBe('doubtful')
  })
})

test.each(ROWS.filter(({ name }) => name.includes('tenth of the traffic')))(
  'hardly more than 10 of 100 pairs without a change ask for a person: $name',
  ({ make }) => {
    const random = makeRandom(3)
    const pairs = Array.from({ length: 100 }, () => judgeOne({ ...make(random) }))
    expect(pairs.filter(({ classification }) => classification === 'Inconclusive').length).toBeLessThan(18)
  },
)
