import { expect, test } from 'vitest'

import { percent } from '../../../../src/lib/text/number-text.js'
import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around } = simulatedSeries()

test.each([
  [-0.0001, '0.0 %'],
  [0.0001, '0.0 %'],
  [0, '0.0 %'],
  [-0.001, '-0.1 %'],
  [0.46, '+46 %'],
])('a change of %d is shown as %s', (share, shown) => {
  expect(percent(share)).toBe(shown)
})

test('the change that would be found is never one that would be passed as too small', () => {
  const constant = (level: number): number[] => points((index) => level + (index % 2) / 100)
  const result = judgeOne({ control: constant(100), experiment: constant(98) })
  expect(result.classification).toBe('Pass')
  expect(result.finding?.detectable).toBeGreaterThan(0.05)
})

test('an outage that is over, and a stretch without values, ask what happened', () => {
  const [control, experiment] = [around(100), around(100)]
  const dead = experiment.map((value, index) => (index >= 20 && index < 28 ? null : value))
  expect(judgeOne({ control, experiment: dead })).toMatchObject({
    classification: 'Inconclusive',
    noData: { state: 'doubtful' },
    classificationReason: expect.stringContaining('no value for 8 of 60 points from point 21 on') as unknown,
  })
  const down = experiment.map((value, index) => (index >= 20 && index < 28 ? 0 : value))
  expect(['Low', 'Inconclusive']).toContain(judgeOne({ control, experiment: down }).classification)
})
