import type { FetchBudget, SeriesAnswer, SeriesQuery } from '../../sources.js'
import { failedSeries } from './answers.js'
import { MAX_COUNTED_SERIES } from './grid-part.js'
import type { GridPart } from './grid-part.js'
import { seriesAnswer } from './series-answer.js'
import { SeriesBuilder } from './series-builder.js'
import type { Deadline, SourceConnection } from './source-connection.js'
import { shortened, splitGrid, stepGrid } from './step-grid.js'
import type { StepGrid } from './step-grid.js'

/** The requests for the steps of a series. */
export interface GridRequest {
  /** The query as sent for the whole grid. */
  readonly textFor: (grid: StepGrid) => string
  /** Maximum number of steps to fetch. Later steps of the window are left out. */
  readonly maxPoints: number
  readonly pointsPerRequest: number
  /** Fetches one part of the grid. Returns an error message if it fails. */
  readonly fetchPart: (part: StepGrid, deadline: Deadline) => Promise<GridPart | string>
}

const MAX_NAMED_SERIES = 3

/**
 * Fetches a series in one or more requests. If the first one fails, the query has failed; a later
 * failure makes the series incomplete.
 */
export async function fetchGrid(
  query: SeriesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  { textFor, maxPoints, pointsPerRequest, fetchPart }: GridRequest,
): Promise<SeriesAnswer> {
  const whole = stepGrid(query, query.stepMs)
  const grid = shortened(whole, maxPoints)
  const text = textFor(grid)
  if (!(grid.count > 0)) return failedSeries(text, grid, 'the window has no step in it')
  const reading = new GridReading(grid, query)
  const deadline = connection.startBudget(budget)
  for (const part of splitGrid(grid, pointsPerRequest)) {
    const found = await fetchPart(part, deadline)
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
    units: reading.units,
    truncatedPoints: whole.count - grid.count,
    gaps: reading.describeGaps(),
    warnings: [...reading.warnings],
  })
}

/** The data of the parts of a grid so far. */
class GridReading {
  readonly builder: SeriesBuilder
  /** A series for each label, such as one per instance, if the aggregate is `units`. */
  readonly units = new Map<string, SeriesBuilder>()
  readonly warnings = new Set<string>()
  readonly #grid: StepGrid
  readonly #labels = new Set<string>()
  readonly #gaps = new Set<string>()
  #unreadable = 0
  #offGrid = 0

  constructor(grid: StepGrid, { aggregate }: SeriesQuery) {
    this.builder = new SeriesBuilder(grid, aggregate)
    this.#grid = grid
  }

  add({ grid, builder, units, labels, gaps, warnings, unreadable, offGrid }: GridPart): void {
    const firstStep = Math.round((grid.startMs - this.#grid.startMs) / grid.stepMs)
    this.builder.include(builder, firstStep)
    for (const [label, unit] of units) {
      const whole = this.units.get(label) ?? new SeriesBuilder(this.#grid, 'average')
      whole.include(unit, firstStep)
      this.units.set(label, whole)
    }
    for (const gap of gaps) this.#gaps.add(gap)
    for (const warning of warnings) this.warnings.add(warning)
    for (const label of labels) if (this.#labels.size <= MAX_COUNTED_SERIES) this.#labels.add(label)
    this.#unreadable += unreadable
    this.#offGrid += offGrid
  }

  /** Records a failed part. The parts after it are not fetched. */
  lose({ startMs }: StepGrid, problem: string): void {
    this.#gaps.add(`${problem}; nothing is known from ${new Date(startMs).toISOString()} on`)
  }

  describeSeveralSeries(): string | undefined {
    if (this.units.size > MAX_COUNTED_SERIES)
      return `the query gives more than ${MAX_COUNTED_SERIES} series, too many to compare one by one: join some of them in the query`
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
      ...(this.#unreadable > 0 ? [`values that are not numbers: ${this.#unreadable}`] : []),
      ...(this.#offGrid > 0 ? [`values off the requested steps: ${this.#offGrid}`] : []),
    ]
  }
}
