import { Registry } from 'prom-client'
import { expect, test } from 'vitest'

import { Exemplars } from '../../../src/http/metrics/exemplars.js'
import { openMetricsText } from '../../../src/http/metrics/open-metrics.js'
import { makeAnalysisMetrics } from '../../../src/http/metrics/analysis-metrics.js'
import type { IntervalReport } from '../../../src/analysis/runs/intervals/interval-report.js'

function reportOf(score: number, changes: Readonly<Record<string, number | null>>): IntervalReport {
  const results = Object.entries(changes).map(([name, estimate]) => ({
    name,
    finding: estimate === null ? null : { relative: { estimate } },
    controlStats: { count: 60, mean: 100 },
    experimentStats: { count: estimate === null ? 0 : 60, mean: 100 * (1 + (estimate ?? -1)) },
  }))
  const verdict = score >= 95 ? 'Success' : 'Fail'
  return { score, verdict, targets: [{ name: 'web', metrics: { results } }] } as unknown as IntervalReport
}

const run = (application: string, id = 1) => ({ id, application })
const ours = (text: string) => text.split('\n').filter((line) => line.startsWith('tidegate_'))

test('the results of the last interval of each application are among the metrics', async () => {
  const [registry, exemplars] = [new Registry(), new Exemplars()]
  const judged = makeAnalysisMetrics({ registry, exemplars })
  judged(run('shop'), reportOf(100, { latency: 0.02, gone: 0.5 }))
  judged(run('shop'), reportOf(40, { latency: 0.8, silent: null }))
  judged(run('bank'), reportOf(98, { 'error "rate"': -0.1 }))
  const of = (name: string, application: string, rest: string, value: number) =>
    `tidegate_analysis_${name}{application="${application}"${rest}} ${value}`
  const latency = ',target="web",metric="latency"'
  const rate = String.raw`,target="web",metric="error \"rate\""`
  expect(ours(await registry.metrics()).filter((line) => !line.includes('interval_score'))).toEqual([
    'tidegate_analysis_intervals_total{verdict="Success"} 2',
    'tidegate_analysis_intervals_total{verdict="Fail"} 1',
    of('score', 'shop', '', 40),
    of('score', 'bank', '', 98),
    ...[
      ['shop', 0, 1],
      ['bank', 1, 0],
    ].flatMap(([application, success, fail]) => [
      of('verdict', String(application), ',verdict="Success"', Number(success)),
      of('verdict', String(application), ',verdict="Review"', 0),
      of('verdict', String(application), ',verdict="Fail"', Number(fail)),
    ]),
    of('metric_change', 'shop', latency, 0.8),
    of('metric_change', 'bank', rate, -0.1),
    of('metric_value', 'shop', `${latency},side="baseline"`, 100),
    of('metric_value', 'shop', `${latency},side="canary"`, 180),
    // The canary has no values.
    of('metric_value', 'shop', ',target="web",metric="silent",side="baseline"', 100),
    of('metric_value', 'bank', `${rate},side="baseline"`, 100),
    of('metric_value', 'bank', `${rate},side="canary"`, 90),
  ])
})

test('results of checks in the last interval are among the metrics, and a failed check has no score', async () => {
  const [registry, exemplars] = [new Registry(), new Exemplars()]
  const judged = makeAnalysisMetrics({ registry, exemplars })
  const checks = [
    { name: 'budget', verdict: 'Review', score: 80, isUnanswered: false },
    { name: 'flags', verdict: 'Fail', score: 0, isUnanswered: true },
  ]
  judged(run('shop'), { score: 0, verdict: 'Fail', targets: [{ name: 'web', checks }] } as never)
  const lines = ours(await registry.metrics()).filter((line) => line.includes('_check_'))
  const of = (check: string, verdict: string, value: number) =>
    `tidegate_analysis_check_verdict{application="shop",target="web",check="${check}",verdict="${verdict}"} ${value}`
  const expected = ['budget', 'flags'].flatMap((check) =>
    ['Success', 'Review', 'Fail', 'noAnswer'].map((verdict) =>
      of(check, verdict, Number(verdict === (check === 'budget' ? 'Review' : 'noAnswer'))),
    ),
  )
  expect(lines).toEqual([
    ...expected,
    'tidegate_analysis_check_score{application="shop",target="web",check="budget"} 80',
  ])
})

test('verdicts and scores name the run that they are of, in OpenMetrics', async () => {
  const [registry, exemplars] = [new Registry(), new Exemplars()]
  const judged = makeAnalysisMetrics({ registry, exemplars })
  judged(run('shop', 16), reportOf(100, {}))
  judged(run('shop', 17), reportOf(42, {}))
  const lines = ours(openMetricsText(await registry.getMetricsAsJSON(), exemplars))
  const exemplar = (line: string | undefined) =>
    / # (?<exemplar>\{.*\} \S+) \d+(?:\.\d+)?$/.exec(line ?? '')?.groups?.['exemplar']
  const named = (start: string) => exemplar(lines.find((line) => line.startsWith(start)))
  expect(named('tidegate_analysis_intervals_total{verdict="Fail"} 1')).toBe('{run="17"} 1')
  expect(named('tidegate_analysis_intervals_total{verdict="Success"} 1')).toBe('{run="16"} 1')
  expect(named('tidegate_analysis_interval_score_bucket{le="50"} 1')).toBe('{run="17"} 42')
  expect(await registry.metrics()).not.toContain(' # {')
})

test('applications and metrics have a bounded number of series, those judged last', async () => {
  const [registry, exemplars] = [new Registry(), new Exemplars()]
  const judged = makeAnalysisMetrics({ registry, exemplars })
  const many = Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`m${n}`, 0.1]))
  for (let n = 0; n < 130; n += 1) judged(run(`app${n}`), reportOf(100, many))
  const lines = (await registry.metrics()).split('\n')
  expect(lines.filter((line) => line.startsWith('tidegate_analysis_score{'))).toHaveLength(100)
  expect(lines.filter((line) => line.includes('app129') && line.includes('change{'))).toHaveLength(50)
  expect(lines.some((line) => line.includes('"app0"'))).toBe(false)
})
