import { describe, expect, it } from 'vitest'

import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, normal } = simulatedSeries()

/** A job that runs for three of fifteen minutes. */
const batch = (level: number): number[] =>
  points((minute) => level * (minute % 15 < 3 ? 4 : 1) * (1 + 0.02 * normal()))
const inLastThird = (values: readonly number[], factor: number): number[] =>
  values.map((value, minute) => (minute >= 40 ? factor * value : value))

describe('a third of the window beyond all thirds of the baseline', () => {
  it('requires a review of periodic values, which hide a change from ranks', () => {
    const { noData, classificationReason } = judgeOne({
      control: batch(100),
      experiment: inLastThird(batch(100), 2),
    })
    expect(noData).toMatchObject({ state: 'doubtful' })
    expect(classificationReason).toMatch(
      /^From point \d+ to the end the canary is above each stretch of its baseline as long as that by \+\d+ % of the baseline\. Check this stretch$/,
    )
  })

  it('never gets a better verdict from a larger change', () => {
    const [control, canary] = [batch(100), batch(100)]
    const ranks = [1, 1.1, 1.3, 1.6, 2, 4, 20].map((factor) =>
      judgeOne({ control, experiment: inLastThird(canary, factor) }).classification === 'Pass' ? 1 : 0,
    )
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a))
  })

  it.each([
    ['of one shape', batch(100), batch(100)],
    [
      'with a fifth at the start that warms up',
      around(100),
      around(100).map((value, minute) => (minute < 8 ? 3 * value : value)),
    ],
    ['lower, if only a rise is harm', batch(100), inLastThird(batch(100), 0.3)],
  ])('is not in sides %s', (_, control, experiment) => {
    const { classificationReason } = judgeOne({ control, experiment, canary: { direction: 'increase' } })
    expect(classificationReason).not.toContain('each stretch of its baseline')
  })
})
