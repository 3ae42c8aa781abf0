import { readFileSync } from 'node:fs'

import { describe, expect, test } from 'vitest'

import { readCanaryConfig } from '../../../../src/canary/judge/canary-config.js'
import { judgeKayenta } from '../../../../src/canary/judge/kayenta/judge-kayenta.js'
import { mannWhitneyInterval } from '../../../../src/canary/judge/kayenta/classify-metric.js'
import type { JudgeReport } from '../../../../src/canary/judge/series/types.js'

type Points = string | (number | null)[]
interface MetricCase {
  readonly name: string
  readonly experiment: Points
  readonly control: Points
  readonly canary: object
  readonly tolerance: number
  readonly confidence: number
  readonly classification: string
  readonly critical: boolean
  readonly interval: [number, number] | null
  readonly ratio: number | null
}

const file = new URL('../../../cases/analysis/kayenta-metrics.json', import.meta.url)
const { series, cases } = JSON.parse(readFileSync(file, 'utf8')) as {
  series: Record<string, number[]>
  cases: MetricCase[]
}
const pointsOf = (points: Points): (number | null)[] =>
  typeof points === 'string' ? series[points]! : points

describe('metrics of the suite that Kayenta has', () => {
  test.each(cases)('$name: $classification', (given) => {
    const { tolerance, confidence } = given
    const values = { control: pointsOf(given.control), experiment: pointsOf(given.experiment) }
    const input = readCanaryConfig({
      metrics: [{ name: 'm', groups: ['g'], analysisConfigurations: { canary: given.canary }, values }],
    })
    const { results } = judgeKayenta(input, { judge: 'kayenta', tolerance, confidence })
    expect(results[0]).toMatchObject({ classification: given.classification, critical: given.critical })
    expect(results[0]?.classificationReason).not.toBe('')
    if (given.ratio !== null) expect(results[0]?.ratio).toBeCloseTo(given.ratio, 2)
  })

  const intervals = cases.filter(({ interval, name }) => interval !== null && !name.includes('constant'))
  test.each(intervals)('$name: the interval', ({ experiment, control, confidence, interval }) => {
    const side = (points: Points): Float64Array => Float64Array.from(pointsOf(points), Number)
    const { lower, upper } = mannWhitneyInterval(side(experiment), side(control), confidence)
    // The published values come from data with more digits.
    expect(lower).toBeCloseTo(interval![0], 2)
    expect(upper).toBeCloseTo(interval![1], 2)
  })
})

test('the noise lets one point be compared with one, as it mostly does there', () => {
  const input = readCanaryConfig({ metrics: [{ name: 'm', values: { control: [1], experiment: [10] } }] })
  expect(judgeKayenta(input, { judge: 'kayenta' }).results[0]?.classification).toBe('High')
})

const VALUES = {
  Pass: { control: [1, 2, 3], experiment: [3, 2, 1] },
  High: { control: series['B'], experiment: series['C'] },
  Low: { control: series['D'], experiment: series['A'] },
  Nodata: { control: [], experiment: [] },
}
type Kind = keyof typeof VALUES

interface ScoreCase {
  readonly says: string
  readonly metrics: readonly { kind: Kind; group?: string; critical?: true; muted?: true }[]
  readonly weights?: Record<string, number>
  readonly score: number
}

const scoreCases: ScoreCase[] = [
  { says: 'one pass', metrics: [{ kind: 'Pass' }], score: 100 },
  { says: 'one high', metrics: [{ kind: 'High' }], score: 0 },
  { says: 'no data', metrics: [{ kind: 'Nodata' }], score: 0 },
  { says: 'half', metrics: [{ kind: 'Pass' }, { kind: 'High' }], score: 50 },
  { says: 'a third', metrics: [{ kind: 'Pass' }, { kind: 'High' }, { kind: 'Low' }], score: 33.33 },
  {
    says: 'weights',
    metrics: [
      { kind: 'Pass', group: '1' },
      { kind: 'Pass', group: '1' },
      { kind: 'High', group: '2' },
    ],
    weights: { 1: 75, 2: 25 },
    score: 75,
  },
  {
    says: 'a group partly without data',
    metrics: [
      { kind: 'Pass', group: '1' },
      { kind: 'Nodata', group: '1' },
      { kind: 'High', group: '2' },
    ],
    weights: { 1: 50, 2: 50 },
    score: 50,
  },
  {
    says: 'groups without weights share the rest',
    metrics: [
      { kind: 'Pass', group: '1' },
      { kind: 'High', group: '2' },
      { kind: 'Pass', group: '3' },
    ],
    weights: { 1: 50 },
    score: 75,
  },
  {
    says: 'a group with the name of a member of all objects has no weight of its own',
    metrics: [
      { kind: 'Pass', group: 'constructor' },
      { kind: 'High', group: 'b' },
    ],
    weights: { b: 25 },
    score: 75,
  },
  {
    says: 'a group without data counts as full',
    metrics: [
      { kind: 'Nodata', group: '1' },
      { kind: 'High', group: '2' },
      { kind: 'Pass', group: '2' },
    ],
    weights: { 1: 50, 2: 50 },
    score: 75,
  },
  { says: 'critical high', metrics: [{ kind: 'Pass' }, { kind: 'High', critical: true }], score: 0 },
  {
    says: 'critical without data',
    metrics: [{ kind: 'Pass' }, { kind: 'Nodata', critical: true }],
    score: 0,
  },
  { says: 'muted', metrics: [{ kind: 'Pass' }, { kind: 'High', critical: true, muted: true }], score: 100 },
]

describe('scores of a run', () => {
  const judge = ({ metrics, weights = {} }: ScoreCase): JudgeReport => {
    const document = {
      metrics: metrics.map(({ kind, group = 'g', critical = false, muted = false }, index) => ({
        name: `m${index}`,
        groups: [group],
        analysisConfigurations: { canary: { critical, muted } },
        values: VALUES[kind],
      })),
      classifier: { groupWeights: weights, scoreThresholds: { pass: 95, marginal: 75 } },
    }
    return judgeKayenta(readCanaryConfig(document), { judge: 'kayenta' })
  }

  test.each(scoreCases)('$says: $score', (given) => {
    expect(judge(given).score.score).toBe(given.score)
  })

  test('a score at a threshold reaches it', () => {
    const weights = { 1: 95, 2: 5 }
    const metrics = [
      { kind: 'Pass', group: '1' },
      { kind: 'High', group: '2' },
    ] as const
    expect(judge({ says: '', metrics, weights, score: 95 })).toMatchObject({ verdict: 'Success' })
    expect(judge({ says: '', metrics, weights: { 1: 75, 2: 25 }, score: 75 })).toMatchObject({
      verdict: 'Review',
      score: { classification: 'Marginal' },
    })
  })
})
