import { describe, expect, test } from 'vitest'

import { around, judgeOne, points } from '../../../support/judge-metrics.js'

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
      noData: { state: 'tooFewPoints', policy: 'review' },
    })
  })

  test('is worse for what it said all the same', () => {
    const result = judgeOne({ control, experiment: silentFrom(around(200, 10), end / 2) })
    expect(result.classification).toBe('High')
  })

  test.each([
    ['whose last points are late', { control, experiment: silentFrom(experiment, end - 4) }],
    [
      'beside a silent baseline',
      { control: silentFrom(control, 30), experiment: silentFrom(experiment, 30) },
    ],
    ['of fewer points', { control, experiment: experiment.slice(0, 30) }],
  ])('passes %s', (_, metric) => {
    expect(judgeOne(metric).classification).toBe('Pass')
  })
})

describe('errors in one burst', () => {
  const now = points((index) => (index % 20 === 0 ? 1 : 0))
  const burst = points((index) => (index >= 40 && index < 46 ? 25 : index % 20 === 0 ? 1 : 0))

  test('are no change that is proven, and no success either', () => {
    expect(judgeOne({ control: now, experiment: burst, canary: { direction: 'increase' } })).toMatchObject({
      classification: 'Inconclusive',
      classificationReason: expect.stringContaining('in bursts that count as few') as string,
    })
  })

  test('are fine where they ended, and where fewer are harm', () => {
    expect(judgeOne({ control: burst, experiment: now }).classification).toBe('Pass')
    const canary = { direction: 'decrease' }
    expect(judgeOne({ control: now, experiment: burst, canary }).classification).toBe('Pass')
  })
})
