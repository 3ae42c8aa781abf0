import { expect, test } from 'vitest'

import type { SeriesData } from '../../../src/analysis/runs/intervals/interval-data.js'
import { seriesChart } from '../../../src/http/analysis-report/charts.js'

function seriesOf(points: number, stepMs: number): SeriesData {
  const values = Array.from({ length: points }, (_, index) => index)
  return { values, stepMs, startMs: Date.UTC(2026, 0, 31, 10, 37) } as unknown as SeriesData
}

async function timesOf(series: SeriesData): Promise<string[]> {
  const drawn = (await seriesChart(series, series)).toString()
  return [...drawn.matchAll(/class="tick middle"[^>]*>([^<]+)</g)].map(([, label = '']) => label)
}

test('a long series keeps its spikes and its gaps, with fewer points', async () => {
  const values = Array.from({ length: 6000 }, (_, index): number | null =>
    index >= 3000 && index < 3100 ? null : 5,
  )
  values[1234] = 1000
  const series = { values, stepMs: 60_000, startMs: 0 } as unknown as SeriesData
  const drawn = (await seriesChart(series, series)).toString()
  const [, path = ''] = /class="series baseline" d="([^"]*)"/.exec(drawn) ?? []
  const heights = [...path.matchAll(/[ML]([\d.]+),([\d.]+)/g)].map(([, , y]) => Number(y))
  expect(heights.length).toBeGreaterThan(400)
  expect(heights.length).toBeLessThan(1300)
  expect(heights.filter((height) => height < Math.max(...heights))).toHaveLength(1)
  expect(path.match(/M/g)).toHaveLength(2)
})

test('values between gaps are dots, since no line shows them', async () => {
  const baseline = seriesOf(9, 60_000)
  const values = baseline.values.map((value, index) => (index % 3 === 0 ? value : null))
  const drawn = (await seriesChart(baseline, { ...baseline, values })).toString()
  expect(drawn.match(/<circle\s+class="alone canary"/g)).toHaveLength(3)
  expect(drawn).not.toContain('alone baseline')
})

test.each([
  ['a minute', 7, 10_000, /^10:3[78]:\d\d$/],
  ['an hour', 60, 60_000, /^1[01]:\d\d$/],
  ['three days', 72, 3_600_000, /^0[123]-\d\d \d\d:\d\d$/],
])('no two labels of the time axis over %s are alike', async (_, points, stepMs, form) => {
  const labels = await timesOf(seriesOf(points, stepMs))
  expect(labels.length).toBeGreaterThan(2)
  expect(new Set(labels).size).toBe(labels.length)
  for (const label of labels) expect(label).toMatch(form)
})
