import { describe, expect, test } from 'vitest'

import { readCanaryConfig } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import type { JudgeReport } from '../../../src/canary/judge/series/types.js'

const POINTS = Array.from({ length: 30 }, (_, minute) => 100 + (minute % 5))
const GAPS = POINTS.map(() => null)
const NO_DATA = {
  'no points': { control: [], experiment: [] },
  'nothing but gaps': { control: GAPS, experiment: GAPS },
}
const THRESHOLDS = [
  { pass: 90, marginal: 70 },
  { pass: 80, marginal: 80 },
  { pass: 100, marginal: 100 },
  { pass: 0, marginal: 0 },
]
const JUDGES = ['default', 'kayenta'] as const

interface Given {
  readonly judge: (typeof JUDGES)[number]
  readonly thresholds: { readonly pass: number; readonly marginal: number }
  readonly metrics: readonly { readonly values: object; readonly canary?: object; readonly group?: string }[]
}

function judge({ judge: name, thresholds, metrics }: Given): JudgeReport {
  const document = {
    metrics: metrics.map(({ values, canary = {}, group = 'g' }, index) => ({
      name: `m${index}`,
      groups: [group],
      analysisConfigurations: { canary },
      values,
    })),
    classifier: { scoreThresholds: thresholds },
  }
  return judgeMetrics(readCanaryConfig(document), { judge: name })
}

describe.each(JUDGES)('the judge %s', (name) => {
  describe.each(THRESHOLDS)('with a passing score of $pass and a marginal one of $marginal', (thresholds) => {
    test.each([
      ...Object.entries(NO_DATA).flatMap(([says, values]) =>
        ['remove', 'replace'].map((nanStrategy) => [says, nanStrategy, values] as const),
      ),
      ['no points on one side', 'replace', { control: POINTS, experiment: [] }] as const,
      ['no points on one side', 'remove', { control: POINTS, experiment: [] }] as const,
    ])('never lets a run pass of which there is %s (%s)', (_says, nanStrategy, values) => {
      const metrics = [
        { values, canary: { nanStrategy } },
        { values, canary: { nanStrategy }, group: 'other' },
        { values: { control: POINTS, experiment: POINTS }, canary: { muted: true } },
      ]
      const { verdict, score } = judge({ judge: name, thresholds, metrics })
      expect(verdict).not.toBe('Success')
      if (thresholds.pass > 0) expect(score.score).toBeLessThan(thresholds.pass)
      expect(score.classificationReason).toMatch(/Nothing could be|nothing could be|no data for 2 of 2/)
    })

    test('lets a run pass whose metrics have data and did not change', () => {
      const metrics = [{ values: { control: POINTS, experiment: POINTS } }]
      expect(judge({ judge: name, thresholds, metrics }).verdict).toBe('Success')
    })
  })
})

test('what is not known of one metric keeps a run from passing where nothing is left to review', () => {
  const metrics = [
    { values: { control: POINTS, experiment: POINTS } },
    { values: { control: POINTS, experiment: [] } },
  ]
  const { verdict, score } = judge({
    judge: 'default',
    thresholds: { pass: 80, marginal: 80 },
    metrics,
  })
  expect({ verdict, score: score.score }).toEqual({ verdict: 'Review', score: 79.99 })
  expect(score.classificationReason).toContain('Not judged: m1')
})

test("Kayenta's judge takes the gaps of one side for zeros, as there, where the other side has points", () => {
  const metrics = [{ values: { control: POINTS, experiment: GAPS }, canary: { nanStrategy: 'replace' } }]
  const { results } = judge({ judge: 'kayenta', thresholds: { pass: 90, marginal: 70 }, metrics })
  expect(results[0]?.classification).toBe('Low')
})
