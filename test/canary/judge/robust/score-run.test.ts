import { describe, expect, test } from 'vitest'

import type { JudgeReport } from '../../../../src/canary/judge/series/types.js'
import { judge, judgeOne, points, simulatedSeries } from '../../../support/judge-metrics.js'

const { around, SAME, WORSE } = simulatedSeries()

describe('states without data', () => {
  const many = around(10, 1)
  const cases = [
    { state: 'sourceError', control: [], experiment: [], error: 'timed out', is: 'Error' },
    { state: 'empty', control: [null, null], experiment: [], is: 'Nodata' },
    { state: 'oneSideEmpty', control: many, experiment: [null], is: 'Nodata' },
    { state: 'tooFewPoints', control: many, experiment: [1, 2], is: 'Inconclusive' },
    {
      state: 'noTraffic',
      control: many,
      experiment: many,
      exposure: { control: many, experiment: points(() => 0) },
      is: 'Nodata',
    },
  ]

  test.each(cases)('$state asks for a review unless it is told otherwise', ({ state, is, ...metric }) => {
    const run = (policy?: string): JudgeReport =>
      judge([SAME, { ...metric, canary: policy === undefined ? {} : { noData: { [state]: policy } } }])
    expect(run().results[1]).toMatchObject({
      classification: is,
      score: null,
      noData: { state, policy: 'review' },
    })
    expect(run().verdict).toBe('Review')
    expect(run('ignore').verdict).toBe('Success')
    expect(run('fail').results[1]).toMatchObject({ score: 0 })
    expect(run('fail').verdict).toBe('Fail')
  })

  test.each([{ critical: true }, { mustHaveData: true }])('fail a metric with %j', (canary) => {
    const { results, verdict } = judge([SAME, { control: many, experiment: [], canary }])
    expect(results[1]).toMatchObject({ noData: { policy: 'fail' }, score: 0 })
    expect(verdict).toBe('Fail')
  })

  test('gaps are zeros where the metric says so', () => {
    const canary = { nanStrategy: 'replace' }
    const control = points((index) => (index % 3 === 0 ? 0.5 : 0))
    expect(
      judgeOne({ control, experiment: points(() => Number.NaN).map(() => null), canary }).noData,
    ).toBeNull()
  })

  test('a run about which nothing is known is a review with the marginal score', () => {
    expect(judge([{ control: [], experiment: [] }])).toMatchObject({
      verdict: 'Review',
      score: { score: 60, classification: 'Review' },
    })
  })
})

describe('scores', () => {
  const [base, little, much] = [100, 110, 180].map((mean) => around(mean, 2))

  test('a change costs at least half, and more the larger it surely is', () => {
    const small = judgeOne({ control: base!, experiment: little! })
    const large = judgeOne({ control: base!, experiment: much! })
    expect(small.score).toBeLessThanOrEqual(50)
    expect(large.score).toBeLessThan(small.score!)
  })

  test('a critical change fails the run and ends it', () => {
    const { score, verdict, endsRun } = judge([SAME, SAME, { ...WORSE, canary: { critical: true } }])
    expect({ score: score.score, verdict, endsRun }).toEqual({ score: 0, verdict: 'Fail', endsRun: true })
    expect(score.classificationReason).toContain('m2 is High')
  })

  test('a critical metric without data fails the look but does not end the run: the next one may have some', () => {
    const metric = { control: [], experiment: [], error: 'down', canary: { critical: true } }
    expect(judge([SAME, metric])).toMatchObject({ verdict: 'Fail', score: { score: 0 }, endsRun: false })
  })

  test('a critical change below its critical size is an ordinary one', () => {
    const canary = { critical: true, effectSize: { criticalIncrease: 3 } }
    expect(judgeOne({ ...WORSE, canary })).toMatchObject({ classification: 'High', critical: false })
  })

  test('a muted metric is judged and does not count', () => {
    const { results, verdict } = judge([SAME, { ...WORSE, canary: { muted: true, critical: true } }])
    expect(results[1]).toMatchObject({ classification: 'High', muted: true })
    expect(verdict).toBe('Success')
  })

  test('groups count by their weight, one without a score not at all', () => {
    const metrics = [
      { ...SAME, group: 'a' },
      { ...WORSE, group: 'b' },
      { control: [], experiment: [], canary: { noData: { empty: 'ignore' } }, group: 'c' },
    ]
    const { score, groupScores } = judge(metrics, { weights: { a: 60, b: 20, c: 20 } })
    const [, b] = groupScores
    expect(score.score).toBeCloseTo((100 * 60 + b!.score * 20) / 80, 1)
    expect(groupScores[2]).toMatchObject({ classification: 'Nodata' })
  })

  test.each([
    [{ max: 90 }, 'High'],
    [{ min: 110 }, 'Low'],
    [{ max: 200, min: 50 }, 'Pass'],
    [{ figure: 'p99', max: 110 }, 'High'],
  ])('limits %j hold whatever the baseline does: %s', (limits, is) => {
    expect(judgeOne({ ...SAME, canary: { limits } }).classification).toBe(is)
  })
})

test.each([
  [[{ ...SAME, canary: { muted: true } }], 'Nothing could be judged: Muted: m0'],
  [
    [{ control: [1], experiment: [2] }],
    'Nothing could be judged: m0. Too few points: 1 in the baseline, 1 in the canary. At least 8 are needed on each side',
  ],
  [
    [
      { control: [1], experiment: [2] },
      { control: [1], experiment: [2], canary: { noData: { tooFewPoints: 'ignore' } } },
      { ...SAME, canary: { muted: true } },
    ],
    'Nothing could be judged: m0. Too few points: 1 in the baseline, 1 in the canary. At least 8 are needed on each side. Muted: m2. Left out by noData: m1',
  ],
])('a run without a score says what could not be judged: %#', (metrics, classificationReason) => {
  expect(judge(metrics).score).toEqual({
    unscored: 'nothing judged',
    score: 60,
    classification: 'Review',
    classificationReason,
  })
})
