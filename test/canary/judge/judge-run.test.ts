import { describe, expect, test } from 'vitest'

import { reportDocument } from '../../../src/canary/judge/judge-run.js'
import { judge, judgeOne, points, simulatedSeries } from '../../support/judge-metrics.js'

const { around, normal, SAME, WORSE } = simulatedSeries()

const SKEWED = {
  control: points(() => Math.exp(normal())),
  experiment: points(() => 2.2 * Math.exp(normal())),
}

test('the unit of the values does not matter', () => {
  for (const metric of [SAME, WORSE, SKEWED]) {
    const results = [1, 1e-9, 1e9].map((scale) => {
      const scaled = (side: number[]): number[] => side.map((value) => value * scale)
      return judgeOne({ control: scaled(metric.control), experiment: scaled(metric.experiment) })
    })
    expect(new Set(results.map(({ classification }) => classification)).size).toBe(1)
    const shares = results.map(({ finding }) => finding?.relative?.interval[0] ?? 0)
    for (const share of shares) expect(share).toBeCloseTo(shares[0]!, 4)
  }
})

test('values in steps are judged alike in every unit', () => {
  const steps = {
    control: points(() => Math.round(3 * normal())),
    experiment: points((index) => 1 + (index % 3)),
  }
  const atMargin = { control: points(() => 100), experiment: points(() => 105) }
  for (const { control, experiment } of [steps, atMargin]) {
    const found = [1, 0.1, 0.01, 1e-9, 1e9].map((scale) =>
      judgeOne({
        control: control.map((value) => value * scale),
        experiment: experiment.map((value) => value * scale),
        canary: { kind: 'gauge' },
      }),
    )
    expect(new Set(found.map(({ classification }) => classification)).size).toBe(1)
    expect(new Set(found.map(({ finding }) => finding?.p.toPrecision(6))).size).toBe(1)
  }
})

test('the same data give the same report', () => {
  const metrics = [SAME, WORSE, { control: [], experiment: [1] }]
  expect(reportDocument(judge(metrics))).toEqual(reportDocument(judge(metrics)))
})

describe('many metrics, many intervals', () => {
  const slight = { control: points((i) => 100 + (i % 10)), experiment: points((i) => 106 + ((i * 7) % 13)) }
  const others = Array.from({ length: 200 }, () => ({ control: around(1), experiment: around(1) }))
  const borderline = { control: around(100, 20, 40), experiment: around(111.5, 20, 40) }

  test('a change that one metric shows is expected of one in many', () => {
    const alone = judgeOne(borderline)
    const among = judge([borderline, ...others]).results[0]!
    expect(alone.finding?.pAdjusted).toBeLessThan(among.finding!.pAdjusted)
    expect(judge([slight, ...others]).results[0]?.classification).toBe('High')
  })

  test('ordinary metrics take nothing from a critical one', () => {
    const critical = { ...borderline, canary: { critical: true } }
    expect(judge([critical, ...others]).results[0]?.finding?.pAdjusted).toBe(
      judgeOne(critical).finding?.pAdjusted,
    )
  })

  test('two critical metrics are adjusted for each other', () => {
    const critical = { ...borderline, canary: { critical: true } }
    const steady = { ...others[0]!, canary: { critical: true } }
    expect(judge([critical, steady]).results[0]?.finding?.pAdjusted).toBeCloseTo(
      2 * judgeOne(critical).finding!.pAdjusted,
      12,
    )
  })

  test.each([
    ['muted metrics', others.map((metric) => ({ ...metric, canary: { muted: true } }))],
    ['metrics without points', others.map(() => ({ control: [], experiment: [] }))],
  ])('%s take nothing from the others', (_, beside) => {
    expect(judge([borderline, ...beside]).results[0]?.finding?.pAdjusted).toBe(
      judgeOne(borderline).finding?.pAdjusted,
    )
  })

  test('the intervals of a run spend its error, the last ones most', () => {
    const intervals = 5
    const spent = points(
      (index) => judgeOne(WORSE, { interval: { interval: index + 1, intervals } }).finding!.alpha,
      intervals,
    )
    expect(spent.reduce((sum, alpha) => sum + alpha, 0)).toBeCloseTo(0.02, 12)
    expect(spent).toEqual(spent.toSorted((a, b) => a - b))
  })

  test('an early interval still sees a large change', () => {
    expect(judgeOne(WORSE, { interval: { interval: 2, intervals: 5 } }).classification).toBe('High')
  })

  test('progress is reported metric by metric', () => {
    const told: string[] = []
    judge([SAME, WORSE], { onMetric: (judged, of) => void told.push(`${judged}/${of}`) })
    expect(told).toEqual(['1/2', '2/2'])
  })
})
