import type { Sources } from '../../src/analysis/runs/intervals/fetch-interval.js'
import type {
  FetchBudget,
  LinesAnswer,
  LinesQuery,
  SeriesAnswer,
  SeriesQuery,
} from '../../src/analysis/sources.js'
import { stepGrid } from '../../src/analysis/sources/answers/step-grid.js'

/** The answer of a made-up source to one query. Omitted members are those of a complete answer. */
export type SeriesScript = (query: SeriesQuery) => Partial<SeriesAnswer>
export type LinesScript = (query: LinesQuery) => Partial<LinesAnswer>

const COMPLETE = { state: 'complete', reasons: [], warnings: [] } as const

/** Sources named `metrics` and `logs` that answer immediately. */
export function makeFakeSources(
  series: (query: SeriesQuery, budget: FetchBudget) => Partial<SeriesAnswer> | Promise<Partial<SeriesAnswer>>,
  lines: LinesScript = () => ({}),
): Sources {
  return new Map([
    [
      'metrics',
      {
        name: 'metrics',
        type: 'file',
        metrics: {
          fetchSeries: async (query, budget) => {
            const { startMs, stepMs } = stepGrid(query, query.stepMs)
            const whole = { ...COMPLETE, query: query.query, startMs, stepMs, truncatedPoints: 0 }
            return { ...whole, values: new Float64Array(), ...(await series(query, budget)) }
          },
        },
      },
    ],
    [
      'logs',
      {
        name: 'logs',
        type: 'file',
        logs: {
          fetchLines: (query) => {
            const whole = { ...COMPLETE, query: query.query, lines: [], isTruncated: false, omittedLines: 0 }
            return Promise.resolve({ ...whole, coveredUntilMs: query.endMs, ...lines(query) })
          },
        },
      },
    ],
  ])
}

/** A value for each step of a window, around a level and never twice the same in a row. */
export function wave({ startMs, endMs }: SeriesQuery, stepMs: number, level: number): Float64Array {
  const count = Math.floor((endMs - startMs) / stepMs)
  return Float64Array.from({ length: count }, (_, index) => level * (1 + 0.05 * Math.sin(index * 2.4)))
}
