import { describe, expect, test } from 'vitest'

import { judge, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, SAME } = simulatedSeries()

const others = Array.from({ length: 29 }, () => SAME)
const tenfold = { control: around(100), experiment: around(1000) }

describe('one metric that is ten times worse among thirty', () => {
  test('asks for a review, whatever it weighs, and is the reason', () => {
    for (const weights of [
      { small: 1, g: 99 },
      { small: 0, g: 100 },
    ]) {
      const report = judge([{ ...tenfold, group: 'small' }, ...others], { weights })
      expect(report).toMatchObject({ verdict: 'Review' })
      expect(report.score.score).toBeLessThan(90)
      expect(report.score.classificationReason).toMatch(/^Beyond doubt: m0/)
    }
  })

  test('is only shown where it is muted', () => {
    const report = judge([{ ...tenfold, canary: { muted: true } }, ...others])
    expect(report.verdict).toBe('Success')
  })

  test('one that is a little worse costs its points and no more', () => {
    const slightly = { control: around(100, 3), experiment: around(109, 3) }
    const report = judge([slightly, ...others])
    expect(report).toMatchObject({
      verdict: 'Success',
      results: [{ classification: 'High' }, ...others.map(() => ({}))],
    })
  })
})

test('a review does not say that its score is below a score that it was put below', () => {
  const { score } = judge([SAME, { control: around(1, 1, 3), experiment: around(1, 1, 3) }])
  expect(score.score).toBe(89.99)
  expect(score.classificationReason).toMatch(
    /^Not judged: m1. Too few points: 3 in the baseline, 3 in the canary/,
  )
  expect(score.classificationReason).not.toContain('below')
})
