import fc from 'fast-check'
import { expect, test } from 'vitest'

import type { SeriesData } from '../../../src/analysis/runs/intervals/interval-data.js'
import { distributionChart, seriesChart } from '../../../src/http/analysis-report/charts.js'

const MAX = Number.MAX_VALUE

const value = fc.oneof(
  fc.constantFrom(MAX, -MAX, 1e308, 1e300, 1e-300, 5e-324, -5e-324, 0, 1, 1 + Number.EPSILON, 2 ** 53, null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const values = fc.array(value, { maxLength: 40 })

const seriesOf = (points: readonly (number | null)[]): SeriesData => ({
  state: 'complete',
  reasons: [],
  warnings: [],
  query: 'q',
  startMs: Date.UTC(2026, 0, 31),
  stepMs: 60_000,
  values: points,
})

test('whatever finite values a series has, its charts are small and made of numbers', () =>
  fc.assert(
    fc.asyncProperty(values, values, async (baseline, canary) => {
      const sides = [seriesOf(baseline), seriesOf(canary)] as const
      for (const chart of [await seriesChart(...sides), await distributionChart(...sides)]) {
        const drawn = chart.toString()
        expect(drawn).not.toMatch(/NaN|Infinity/)
        expect(drawn.length).toBeLessThan(100_000)
      }
    }),
    { numRuns: 300 },
  ))

test('a chart of both ends of the range of doubles shows where they are', async () => {
  const ends = seriesOf([MAX, -MAX, 0])
  expect((await seriesChart(ends, ends)).toString()).toMatch(/<path class="series canary" d="M[^"]+L/)
})
