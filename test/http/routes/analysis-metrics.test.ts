import { Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { makeAnalysisMetrics } from '../../../src/http/routes/analysis/analysis-metrics.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'

function reportOf(score: number, changes: Readonly<Record<string, number | null>>): IntervalReport {
  const results = Object.entries(changes).map(([name, estimate]) => ({
    name,
    finding: estimate === null ? null : { relative: { estimate } },
  }))
  const verdict = score >= 95 ? 'Success' : 'Fail'
  return { score, verdict, targets: [{ name: 'web', metrics: { results } }] } as unknown as IntervalReport
}

test('what the last interval of each application found is among the figures', async () => {
  const registry = new Registry()
  const judged = makeAnalysisMetrics(registry)
  judged('shop', reportOf(100, { latency: 0.02, gone: 0.5 }))
  judged('shop', reportOf(40, { latency: 0.8, silent: null }))
  judged('bank', reportOf(98, { 'error "rate"': -0.1 }))
  const text = await registry.metrics()
  expect(text.split('\n').filter((line) => line.startsWith('tidegate_'))).toEqual([
    'tidegate_analysis_intervals_total{verdict="Success"} 2',
    'tidegate_analysis_intervals_total{verdict="Fail"} 1',
    'tidegate_analysis_score{application="shop"} 40',
    'tidegate_analysis_score{application="bank"} 98',
    'tidegate_analysis_metric_change{application="shop",target="web",metric="latency"} 0.8',
    String.raw`tidegate_analysis_metric_change{application="bank",target="web",metric="error \"rate\""} -0.1`,
  ])
})

test('applications and metrics have a bounded number of series, those judged last', async () => {
  const registry = new Registry()
  const judged = makeAnalysisMetrics(registry)
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`m${n}`, 0.1]))
  for (let n = 0; n < 130; n += 1) judged(`app${n}`, reportOf(100, many))
  const lines = (await registry.metrics()).split('\n')
  expect(lines.filter((line) => line.startsWith('tidegate_analysis_score{'))).toHaveLength(100)
  expect(lines.filter((line) => line.includes('app129') && line.includes('change{'))).toHaveLength(50)
  expect(lines.some((line) => line.includes('"app0"'))).toBe(false)
})
