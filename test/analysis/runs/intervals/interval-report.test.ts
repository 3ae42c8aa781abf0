import { describe, expect, test } from 'vitest'

import { combineParts } from '../../../../src/analysis/runs/intervals/interval-report.js'
import type { TargetReport } from '../../../../src/analysis/runs/intervals/interval-report.js'
import type { JudgeReport, ScoreThresholds } from '../../../../src/canary/judge/series/types.js'
import type { LogReport } from '../../../../src/canary/logs/model/types.js'
import type { Verdict } from '../../../../src/store/ports/analysis-store.js'

const THRESHOLDS: ScoreThresholds = { pass: 90, marginal: 70 }

function metrics(verdict: Verdict, score: number, endsRun = false): JudgeReport {
  const classificationReason = `metrics say ${verdict}`
  return {
    judgeName: 'tidegate-v1',
    score: { score, classification: verdict, classificationReason },
    verdict,
    endsRun,
    groupScores: [],
    results: [],
  }
}

function logs(verdict: Verdict, score: number, endsRun = false): LogReport {
  const side = { lines: 1, events: 1, isTruncated: false }
  return {
    ...{ state: 'compared', score, verdict, reason: `the log says ${verdict}`, endsRun },
    ...{ exposure: null, baseline: side, canary: side, templates: 1, otherEvents: 0, mixDivergence: null },
    ...{ findings: [], silence: null, missing: [], omittedFindings: 0, warnings: [] },
  }
}

function target(name: string, given: Partial<TargetReport>): TargetReport {
  return { name, metrics: undefined, logs: undefined, ...given }
}

describe('an interval is as good as the worst of its parts', () => {
  test.each<[string, TargetReport[], object]>([
    [
      'which is the only one',
      [target('shop', { metrics: metrics('Success', 97.456) })],
      { score: 97.46, verdict: 'Success', reason: 'metrics say Success' },
    ],
    [
      'which is the log',
      [target('shop', { metrics: metrics('Success', 100), logs: logs('Fail', 0) })],
      { score: 0, verdict: 'Fail', reason: 'logs: the log says Fail' },
    ],
    [
      'which is the metrics, though the log has the lower score',
      [target('shop', { metrics: metrics('Review', 85), logs: logs('Success', 84) })],
      { score: 85, verdict: 'Review', reason: 'metrics: metrics say Review' },
    ],
    [
      'which is the lower of two equal verdicts',
      [target('shop', { metrics: metrics('Success', 99), logs: logs('Success', 95) })],
      { score: 95, verdict: 'Success', reason: 'logs: the log says Success' },
    ],
    [
      'which is one of several services',
      [
        target('cart', { metrics: metrics('Success', 100) }),
        target('payment', { metrics: metrics('Fail', 10), logs: logs('Success', 100) }),
      ],
      { score: 10, verdict: 'Fail', reason: 'payment metrics: metrics say Fail' },
    ],
    ['and fails where nothing could be judged', [target('shop', {})], { score: 0, verdict: 'Fail' }],
  ])('%s', (_, targets, combined) => {
    expect(combineParts(targets, THRESHOLDS)).toMatchObject(combined)
  })

  test('and ends the run where any part does', () => {
    const targets = [target('shop', { metrics: metrics('Fail', 0), logs: logs('Fail', 0, true) })]
    expect(combineParts(targets, THRESHOLDS).endsRun).toBe(true)
  })
})

describe('the score alone never says more than the verdict', () => {
  test.each<[Verdict, number, ScoreThresholds, number]>([
    ['Review', 100, THRESHOLDS, 89],
    ['Review', 89.6, THRESHOLDS, 89],
    ['Review', 75, THRESHOLDS, 75],
    ['Fail', 95, THRESHOLDS, 69],
    ['Fail', 69.9, THRESHOLDS, 69],
    ['Fail', 12.345, THRESHOLDS, 12.35],
    ['Review', 100, { pass: 89.5, marginal: 70 }, 89],
    ['Fail', 100, { pass: 100, marginal: 0 }, 0],
  ])('%s by %d is below the least score for more', (verdict, score, thresholds, said) => {
    const targets = [target('shop', { metrics: metrics(verdict, score) })]
    expect(combineParts(targets, thresholds).score).toBe(said)
  })
})
