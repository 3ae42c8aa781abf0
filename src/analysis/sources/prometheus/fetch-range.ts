import type { FetchBudget, SeriesAnswer, SeriesQuery } from '../../sources.js'
import { fetchGrid } from '../answers/fetch-grid.js'
import type { GridPart } from '../answers/grid-part.js'
import type { Deadline, SourceConnection } from '../answers/source-connection.js'
import { lastStepMs } from '../answers/step-grid.js'
import type { StepGrid } from '../answers/step-grid.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { readRange } from './read-range.js'

export interface RangeSettings {
  /** `/api/v1/query_range`, asked by POST since queries may be longer than a URL; or Loki's, which knows GET only. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly maxPoints: number
}

/** Servers refuse more than 11,000 points a series; some count the step at either end. */
const POINTS_PER_REQUEST = 10_000

/**
 * A series by range queries, of Prometheus and of what speaks its API. Raises `invalid` for a template that cannot be filled.
 */
export function fetchRange(
  query: SeriesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  { path, method, maxPoints }: RangeSettings,
): Promise<SeriesAnswer> {
  const text = fillLabelQuery(query.query, query.scope)
  const askFor = async (part: StepGrid, deadline: Deadline): Promise<GridPart | string> => {
    const parameters = {
      query: text,
      start: toSeconds(part.startMs),
      end: toSeconds(lastStepMs(part)),
      step: toSeconds(part.stepMs),
    }
    const sent = method === 'GET' ? { search: parameters } : { form: parameters }
    const read = () => readRange(part, query.aggregate)
    const reply = await connection.ask({ method, path, ...sent }, deadline, read)
    if (!reply.isAnswered) return reply.problem
    return typeof reply.answer === 'string' ? `${connection.name}: ${reply.answer}` : reply.answer
  }
  return fetchGrid(query, budget, connection, {
    ...{ textFor: () => text, maxPoints, askFor },
    pointsPerRequest: POINTS_PER_REQUEST,
  })
}

/** With a point, by which Loki tells seconds from nanoseconds. */
function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
