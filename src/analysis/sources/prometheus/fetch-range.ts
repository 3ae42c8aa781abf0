import type { FetchBudget, SeriesAggregate, SeriesAnswer, SeriesQuery } from '../../sources.js'
import { failedSeries } from '../answers/answers.js'
import { seriesAnswer } from '../answers/series-answer.js'
import { SeriesBuilder } from '../answers/series-builder.js'
import type { Deadline, SourceConnection } from '../answers/source-connection.js'
import { lastStepMs, shortened, splitGrid, stepGrid } from '../answers/step-grid.js'
import type { StepGrid } from '../answers/step-grid.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { MAX_COUNTED_SERIES, readRange } from './read-range.js'
import type { RangePart } from './read-range.js'

export interface RangeSettings {
  /** `/api/v1/query_range`, asked by POST since queries may be longer than a URL; or Loki's, which knows GET only. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly maxPoints: number
}

/** Servers refuse more than 11,000 points a series; some count the step at either end. */
const POINTS_PER_REQUEST = 10_000
const MAX_NAMED_SERIES = 3

/**
 * A series by range queries, of Prometheus and of what speaks its API. Raises `invalid` for a template that cannot be filled.
 */
export async function fetchRange(
  query: SeriesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  { path, method, maxPoints }: RangeSettings,
): Promise<SeriesAnswer> {
  const whole = stepGrid(query, query.stepMs)
  const grid = shortened(whole, maxPoints)
  const text = fillLabelQuery(query.query, query.scope)
  if (!(grid.count > 0)) return failedSeries(text, grid, 'the window has no step in it')
  const reading = new RangeReading(grid, query)
  const deadline = connection.startBudget(budget)
  const asking = { connection, path, method, deadline, aggregate: query.aggregate }
  for (const part of splitGrid(grid, POINTS_PER_REQUEST)) {
    const found = await askFor(part, text, asking)
    if (typeof found === 'string' && part.startMs === grid.startMs) return failedSeries(text, grid, found)
    if (typeof found === 'string') {
      reading.lose(part, found)
      break
    }
    reading.add(found)
  }
  const severalSeries = reading.describeSeveralSeries()
  if (severalSeries !== undefined) return failedSeries(text, grid, severalSeries)
  return seriesAnswer({
    query: text,
    grid,
    builder: reading.builder,
    truncatedPoints: whole.count - grid.count,
    gaps: reading.describeGaps(),
    warnings: [...reading.warnings],
  })
}

interface Asking {
  readonly connection: SourceConnection
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly aggregate: SeriesAggregate | undefined
  readonly deadline: Deadline
}

/** What one part of the grid has, or a sentence. */
async function askFor(
  part: StepGrid,
  query: string,
  { connection, path, method, aggregate, deadline }: Asking,
): Promise<RangePart | string> {
  const parameters = {
    query,
    start: toSeconds(part.startMs),
    end: toSeconds(lastStepMs(part)),
    step: toSeconds(part.stepMs),
  }
  const sent = method === 'GET' ? { search: parameters } : { form: parameters }
  const reply = await connection.ask({ method, path, ...sent }, deadline, () => readRange(part, aggregate))
  if (!reply.isAnswered) return reply.problem
  return typeof reply.answer === 'string' ? `${connection.name}: ${reply.answer}` : reply.answer
}

/** With a point, by which Loki tells seconds from nanoseconds. */
function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/** What the parts of a grid have brought so far. */
class RangeReading {
  readonly builder: SeriesBuilder
  readonly warnings = new Set<string>()
  readonly #grid: StepGrid
  readonly #labels = new Set<string>()
  readonly #gaps = new Set<string>()
  #unreadable = 0
  #besideGrid = 0

  constructor(grid: StepGrid, { aggregate }: SeriesQuery) {
    this.builder = new SeriesBuilder(grid, aggregate)
    this.#grid = grid
  }

  add({ grid, builder, labels, gaps, warnings, unreadable, besideGrid }: RangePart): void {
    this.builder.include(builder, Math.round((grid.startMs - this.#grid.startMs) / grid.stepMs))
    // Each part may bring its own remarks; the state depends on the first one alone.
    for (const gap of gaps) this.#gaps.add(`the server warns: ${gap}`)
    for (const warning of warnings) this.warnings.add(warning)
    for (const label of labels) if (this.#labels.size <= MAX_COUNTED_SERIES) this.#labels.add(label)
    this.#unreadable += unreadable
    this.#besideGrid += besideGrid
  }

  /** From here on nothing is known. */
  lose({ startMs }: StepGrid, problem: string): void {
    this.#gaps.add(`${problem}; nothing is known from ${new Date(startMs).toISOString()} on`)
  }

  describeSeveralSeries(): string | undefined {
    const { size } = this.#labels
    if (size <= 1) return undefined
    const count = size > MAX_COUNTED_SERIES ? `more than ${MAX_COUNTED_SERIES}` : size
    const named = [...this.#labels].slice(0, MAX_NAMED_SERIES).join(', ')
    const rest = size > MAX_NAMED_SERIES ? ', …' : ''
    return `the query gives ${count} series (${named}${rest}): join them in the query, as sum(…) or avg(…) do, or set aggregate`
  }

  describeGaps(): string[] {
    return [
      ...this.#gaps,
      ...(this.#unreadable > 0 ? [`values that are no numbers: ${this.#unreadable}`] : []),
      ...(this.#besideGrid > 0 ? [`values beside the steps that were asked for: ${this.#besideGrid}`] : []),
    ]
  }
}
