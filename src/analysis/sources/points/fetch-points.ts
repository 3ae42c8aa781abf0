import type {
  FetchBudget,
  SeriesAggregate,
  SeriesAnswer,
  SeriesQuery,
  DocumentAnswer,
  DocumentQuery,
} from '../../sources.js'
import { wholeAnswer } from '../answers/answer-reading.js'
import { fetchGrid } from '../answers/fetch-grid.js'
import { GridPartBuilder } from '../answers/grid-part.js'
import type { GridPart } from '../answers/grid-part.js'
import { readNumber } from '../answers/read-number.js'
import type { Deadline, SourceConnection } from '../answers/source-connection.js'
import { stepAround } from '../answers/step-grid.js'
import type { StepGrid } from '../answers/step-grid.js'
import type { PointSeries, PointsApi } from './points-api.js'
import { documentIn, makeWebApi } from './web.js'

const MS_PER_SECOND = 1000
/** Maximum number of pages of one part of a grid. */
const MAX_PAGES = 100

/**
 * Fetches a series from a server that answers with values at its own times. A value belongs to the
 * step that contains its time; the end of the window is exclusive, whatever the server sends.
 * Raises `invalid` for a template that cannot be filled.
 */
export function fetchPoints(
  query: SeriesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  { api, maxPoints }: { readonly api: PointsApi; readonly maxPoints: number },
): Promise<SeriesAnswer> {
  const text = api.fill(query.query, query.scope)
  return fetchGrid(query, budget, connection, {
    ...{ maxPoints, pointsPerRequest: api.pointsPerRequest },
    textFor: (grid) => api.withWindow?.(text, grid) ?? text,
    fetchPart: (part, deadline) =>
      fetchPart({ text, part, deadline, aggregate: query.aggregate }, connection, api),
  })
}

interface Asked {
  readonly text: string
  readonly part: StepGrid
  readonly deadline: Deadline
  readonly aggregate: SeriesAggregate | undefined
}

async function fetchPart(
  { text, part, deadline, aggregate }: Asked,
  connection: SourceConnection,
  api: PointsApi,
): Promise<GridPart | string> {
  const builder = new GridPartBuilder(part, aggregate)
  let page: string | undefined
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const reply = await connection.send(api.request(text, part, page), deadline, wholeAnswer)
    if (!reply.isAnswered) return reply.problem
    const read = api.read(reply.answer, part)
    if (typeof read === 'string') return `${connection.name}: ${read}`
    for (const gap of read.gaps ?? []) builder.addGap(gap)
    for (const warning of read.warnings ?? []) builder.addWarning(warning)
    for (const series of read.series) addPoints(builder, part, series)
    page = read.nextPage
    if (page === undefined) return builder.part()
  }
  builder.addGap(`the answer has more than ${MAX_PAGES} pages: the rest was not requested`)
  return builder.part()
}

function addPoints(builder: GridPartBuilder, part: StepGrid, { label, points }: PointSeries): void {
  builder.addSeries(() => label)
  let leastMs = Infinity
  let beforeMs = Number.NaN
  for (const [atMs, raw] of points) {
    leastMs = atMs > beforeMs ? Math.min(leastMs, atMs - beforeMs) : leastMs
    beforeMs = atMs
    const step = stepAround(part, atMs)
    if (step !== undefined) builder.addValue(step, readNumber(raw), atMs)
    else if (!Number.isFinite(atMs)) builder.addValue(undefined, undefined, atMs)
  }
  if (!Number.isFinite(leastMs) || leastMs <= part.stepMs) return
  builder.addWarning(
    `the server has a value every ${leastMs / MS_PER_SECOND} s, and steps are of ${part.stepMs / MS_PER_SECOND} s: the steps between are gaps; set stepSeconds to ${leastMs / MS_PER_SECOND}`,
  )
}

/**
 * Fetches the JSON of a web source, or the part of it that the query selects. Raises `invalid` for
 * a query that cannot be filled.
 */
export async function fetchDocument(
  { query, scope, startMs, endMs }: DocumentQuery,
  budget: FetchBudget,
  connection: SourceConnection,
): Promise<DocumentAnswer> {
  const api = makeWebApi(query)
  const filled = api.fill(query, scope)
  const [start, end] = [Math.ceil(startMs), Math.ceil(endMs)]
  const grid = { startMs: start, stepMs: end - start, count: 1 }
  const text = api.withWindow?.(filled, grid) ?? filled
  const request = api.request(filled, grid, undefined)
  const reply = await connection.send(request, connection.startBudget(budget), wholeAnswer)
  if (!reply.isAnswered) return { query: text, problem: reply.problem }
  const found = documentIn(reply.answer, query)
  return 'document' in found
    ? { query: text, ...found }
    : { query: text, problem: `${connection.name}: ${found.problem}` }
}
