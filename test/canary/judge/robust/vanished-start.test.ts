import { describe, expect, test } from 'vitest'

import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'
import type { Metric } from '../../../support/judge-metrics.js'

const { around, normal } = simulatedSeries()

const fading = (place: number): number => Math.exp(-place / 3.75)
const control = around(100, 10)
const warm = around(100, 10)
const queue = (): number[] => points(() => Math.max(0, Math.round(4 + 1.7 * normal())))

describe('a change that only the start of the canary has', () => {
  test.each<[string, Metric]>([
    [
      'of caches that fill',
      { control, experiment: warm.map((value, place) => value * (1 + 3 * fading(place))) },
    ],
    [
      'of a queue that drains',
      {
        control: queue(),
        experiment: queue().map((value, place) => value + Math.max(0, 45 - 3 * place)),
      },
    ],
    [
      'of traffic that comes to it',
      {
        ...{ control, experiment: warm.map((value, place) => value * Math.min(1, 0.2 + 0.05 * place)) },
        canary: { direction: 'decrease' },
      },
    ],
  ])('needs a review: %s', (_, metric) => {
    for (const critical of [false, true]) {
      const { results, verdict } = judge([{ ...metric, canary: { ...metric.canary, critical } }])
      expect(verdict).toBe('Review')
      expect(results[0]?.classificationReason).toMatch(
        /\. Only the start shows it, from point 1 to \d+, as in a warm-up; the canary is like its baseline from point \d+ to the end\. Check the cause, or set warmUpMinutes to leave the start out$/,
      )
    }
  })

  test('and that comes back is a change', () => {
    const experiment = warm.map((value, place) => (place < 15 || place >= 40 ? 3 * value : value))
    expect(judgeOne({ control, experiment })).toMatchObject({ classification: 'High', noData: null })
  })

  test('and that continues for half of the window is a change', () => {
    const experiment = warm.map((value, place) => (place < 30 ? 0.4 * value : value))
    const metric = { control, experiment, canary: { direction: 'decrease' as const } }
    expect(judgeOne(metric)).toMatchObject({ classification: 'Low', noData: null })
  })

  test('and of which something is left is a change', () => {
    const experiment = warm.map((value, place) => value * (1.25 + 3 * fading(place)))
    expect(judgeOne({ control, experiment })).toMatchObject({ classification: 'High', noData: null })
  })

  test('of errors that are counted out of requests is one: what failed has failed', () => {
    const exposure = { control: points(() => 1000), experiment: points(() => 1000) }
    const experiment = points((place) => Math.round(60 * fading(place)))
    const metric = { control: points((place) => (place % 9 === 0 ? 1 : 0)), experiment, exposure }
    expect(judgeOne(metric).classificationReason).not.toContain('warm-up')
  })
})
