import { describe, expect, test } from 'vitest'

import { makeRandom } from '../../../../bench/judge/generate-pairs.js'
import { judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, wander } = simulatedSeries()

const { normal } = makeRandom(9)
/** From 100 to 200 over the window, times `factor`. */
const ramp = (factor: number, deviation: number): number[] =>
  points((at) => factor * (100 + (100 * at) / 59) * (1 + deviation * normal()))

describe('two sides that rise together', () => {
  test.each([0.01, 0.03])('fail by the 15 %% that lie between them (noise of %f)', (deviation) => {
    const result = judgeOne({ control: ramp(1, deviation), experiment: ramp(1.15, deviation) })
    expect(result.classification).toBe('High')
    expect(result.classificationReason).toMatch(/^The typical value changed by \+1[3456] % of the baseline/u)
  })

  test('pass where nothing lies between them, and a start that both have is no note', () => {
    const pairs = Array.from({ length: 50 }, () =>
      judgeOne({ control: ramp(1, 0.02), experiment: ramp(1, 0.02) }),
    )
    expect(pairs.filter(({ classification, notes }) => classification !== 'Pass' || notes)).toEqual([])
  })

  test('and differ in what only the canary starts with', () => {
    const experiment = ramp(1, 0.03).map((value, at) => (at < 5 ? 0.4 * value : value))
    const { notes } = judgeOne({ control: ramp(1, 0.03), experiment })
    expect(notes).toEqual([expect.stringMatching(/^The first 5 points of the canary are 7\d % below/u)])
  })
})

test('values that move too slowly to be judged are told with how far the canary is away', () => {
  const [control, moved] = [wander(20, 0.95), wander(20, 0.95)]
  const { classificationReason } = judgeOne({ control, experiment: moved.map((value) => value * 1.08) })
  expect(classificationReason).toMatch(
    /^The typical value changed by [+-]\d+(\.\d)? % of the baseline( \(confidence interval .*\))?\. Effective samples: \d+\.\d, since the values change slowly/u,
  )
})

test('what moves together is not taken for windows that overlap', () => {
  const pairs = Array.from({ length: 100 }, () => {
    const common = wander(0, 0.9)
    const side = (): number[] =>
      around(0, 0.03).map((own, at) => 100 * Math.exp(0.3 * (common[at] ?? 0) + own))
    return judgeOne({ control: side(), experiment: side() })
  })
  expect(pairs.filter(({ finding }) => finding?.overlap !== undefined).length).toBeLessThan(3)
})
