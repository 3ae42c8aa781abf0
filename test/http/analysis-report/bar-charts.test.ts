import { expect, test } from 'vitest'

import type { SeriesData } from '../../../src/analysis/runs/intervals/interval-data.js'
import type { Finding } from '../../../src/canary/judge/series/types.js'
import { distributionChart, intervalChart } from '../../../src/http/analysis-report/charts.js'

const WIDTH = 320

const seriesOf = (values: readonly number[]): SeriesData =>
  ({ values, stepMs: 60_000, startMs: 0 }) as unknown as SeriesData

interface Bar {
  readonly from: number
  readonly to: number
  readonly height: number
}

function barsOf(drawn: string, side: string): Bar[] {
  const bar = new RegExp(
    String.raw`class="bar ${side}"\s+x="([\d.]+)"\s+y="[\d.]+"\s+width="([\d.]+)"\s+height="([\d.]+)"`,
    'g',
  )
  return [...drawn.matchAll(bar)].map(([, x, width, height]) => ({
    from: Number(x),
    to: Number(x) + Number(width),
    height: Number(height),
  }))
}

test('the bars of a distribution stand side by side within the chart, the tallest where most values are', async () => {
  const values = [1, 2, 3, 4, 5, 5, 5, 5, 6, 7, 8, 9]
  const drawn = (await distributionChart(seriesOf(values), seriesOf([9]))).toString()
  const bars = barsOf(drawn, 'baseline')
  expect(bars.length).toBeGreaterThan(8)
  for (const [index, { from, to }] of bars.entries()) {
    expect(from).toBeGreaterThanOrEqual(bars[index - 1]?.to ?? 0)
    expect(to).toBeLessThanOrEqual(WIDTH)
  }
  const tallest = bars.toSorted((a, b) => b.height - a.height)[0]
  const middle = ((tallest?.from ?? 0) + (tallest?.to ?? 0)) / 2
  expect(Math.abs(middle - WIDTH / 2)).toBeLessThan(25)
  expect(barsOf(drawn, 'canary').filter(({ height }) => height > 0)).toHaveLength(1)
})

test.each([
  ['a narrow one within it', [-0.01, 0.01], 0.05, '-11 %', '+11 %'],
  ['a wide one', [-0.2, 0.4], 0.05, '-22 %', '+44 %'],
])(
  'the chart of an interval shows all of the margin and of the interval: %s',
  async (_, interval, margin, low, high) => {
    const relative = { estimate: 0, interval }
    const drawn = (await intervalChart({ relative, margin } as unknown as Finding)).toString()
    expect(drawn.replaceAll(/\s+/g, ' ')).toContain(`y="62">${low}</text>`)
    expect(drawn.replaceAll(/\s+/g, ' ')).toContain(`y="62">${high}</text>`)
    const [, x = '', width = ''] = /class="margin" x="([\d.]+)" y="8" width="([\d.]+)"/.exec(drawn) ?? []
    expect(Number(x)).toBeGreaterThan(12)
    expect(Number(x) + Number(width)).toBeLessThan(WIDTH - 12)
  },
)
