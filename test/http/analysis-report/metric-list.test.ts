import { expect, test } from 'vitest'

import { readCanaryConfig } from '../../../src/analysis/judge/canary-config.js'
import { judgeMetrics } from '../../../src/analysis/judge/judge-run.js'
import type { MetricResult } from '../../../src/analysis/judge/series/types.js'
import { metricList } from '../../../src/http/analysis-report/metric-list.js'

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
  const passed = Array.from({ length: 30 }, (_, index) => ({ name: `m${index}`, experiment: control }))
  const names = await namesOf(judged(...passed, { name: 'worse', experiment: higher }))
  expect(names.slice(0, 3)).toEqual(['worse', '30 metrics that passed', 'm0'])
  expect(names).toHaveLength(32)
})
