import { expect, test } from 'vitest'

import { readCanaryConfig } from '../../../src/canary/judge/canary-config.js'
import { judgeMetrics } from '../../../src/canary/judge/judge-run.js'
import type { MetricResult } from '../../../src/canary/judge/series/types.js'
import { metricList, mostUrgentFirst } from '../../../src/http/analysis-report/metric-list.js'

const control = Array.from({ length: 40 }, (_, index) => 100 + ((index * 7) % 11))
const higher = control.map((value) => 2 * value)

function judged(
  ...metrics: { name: string; experiment: number[]; canary?: object }[]
): readonly MetricResult[] {
  const document = metrics.map(({ name, experiment, canary = {} }) => ({
    name,
    analysisConfigurations: { canary },
    values: { control, experiment },
  }))
  return judgeMetrics(readCanaryConfig({ metrics: document }), { judge: 'default' }).results
}

async function namesOf(results: readonly MetricResult[]): Promise<string[]> {
  const page = (await metricList(results)).toString()
  return [...page.matchAll(/<h3>(.*?)<\/h3>|<summary>(\d+ metrics.*?)<\/summary>/g)].map(
    ([, name, folded]) => name ?? folded ?? '',
  )
}

test('what asks for attention comes first, what does not count last', async () => {
  const results = judged(
    { name: 'muted', experiment: higher, canary: { muted: true } },
    { name: 'passed', experiment: control },
    { name: 'unknown', experiment: [1] },
    { name: 'worse', experiment: higher },
    { name: 'critical', experiment: higher, canary: { critical: true } },
  )
  expect(await namesOf(results)).toEqual(['critical', 'worse', 'unknown', 'passed', 'muted'])
})

test('of many metrics those that passed are folded away', async () => {
  const passed = Array.from({ length: 30 }, (_, index) => ({
    name: `m${index}`,
    experiment: control.toReversed(),
  }))
  const names = await namesOf(judged(...passed, { name: 'worse', experiment: higher }))
  expect(names.slice(0, 3)).toEqual(['worse', '30 metrics that passed', 'm0'])
  expect(names).toHaveLength(32)
})

test('counts of a canary with less traffic are drawn by what they are counted out of, and each unit is drawn', async () => {
  const requests = (many: number): number[] => control.map(() => many)
  const document = [
    {
      name: 'errors',
      analysisConfigurations: { canary: { exposure: 'requests' } },
      values: { control: control.map(() => 9), experiment: control.map((_, index) => 3 + (index % 2)) },
    },
    { name: 'requests', values: { control: requests(900), experiment: requests(100) } },
  ]
  const { results } = judgeMetrics(readCanaryConfig({ metrics: document }), { judge: 'default' })
  const series = (values: readonly number[]) => ({
    ...({
      state: 'complete',
      reasons: [],
      warnings: [],
      query: 'x',
      startMs: 0,
      stepMs: 60_000,
      values,
    } as const),
    units: [values, values],
  })
  const data = document.map(({ values }) => ({
    ...{ baseline: series(values.control), canary: series(values.experiment) },
  }))
  const [drawn] = mostUrgentFirst(results, data)
  expect(drawn?.result).toMatchObject({ name: 'errors', classification: 'High' })
  expect([drawn?.data?.baseline.values[0], drawn?.data?.canary.values[0]]).toEqual([0.01, 0.03])
  expect(drawn?.data?.canary.units?.map(([first]) => first)).toEqual([0.03, 0.03])
  const page = (await metricList(results, data)).toString()
  expect(page.match(/class="series unit canary"/g)).toHaveLength(4)
  expect(page).toContain('The charts show rates')
})
