import type { FetchBudget, SeriesAnswer, SeriesQuery } from '../../sources.js'
import { boundedRemarks } from '../bounded-remarks.js'
import { failedSeries } from '../answers.js'
import { readNumber } from '../read-number.js'
import { seriesAnswer } from '../series-answer.js'
import { SeriesBuilder } from '../series-builder.js'
import type { Deadline, SourceConnection } from '../source-connection.js'
import { lastStepMs, shortened, splitGrid, stepAt, stepGrid } from '../step-grid.js'
import type { StepGrid } from '../step-grid.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { labelText, readMatrix } from './read-matrix.js'
import type { Matrix, MatrixSeries } from './read-matrix.js'

export interface RangeSettings {
  /** `/api/v1/query_range`, asked by POST since queries may be longer than a URL; or Loki's, which knows GET only. */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly maxPoints: number
}

/** Servers refuse more than 11,000 points a series; some count the step at either end. */
const POINTS_PER_REQUEST = 10_000
const MAX_NAMED_SERIES = 3
/** More are only said to be more; the labels of each are held until the last part has come. */
const MAX_COUNTED_SERIES = 100
/** Beyond it series are not told apart, and only their number is of use then. */
const MAX_LABELS_LENGTH = 4096

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
  for (const part of splitGrid(grid, POINTS_PER_REQUEST)) {
    const matrix = await askFor(part, text, { connection, path, method, deadline })
    if (typeof matrix === 'string' && part.startMs === grid.startMs) return failedSeries(text, grid, matrix)
    if (typeof matrix === 'string') {
      reading.lose(part, matrix)
      break
    }
    reading.add(matrix)
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
  readonly deadline: Deadline
}

/** The series of one part of the grid, or a sentence. */
async function askFor(
  part: StepGrid,
  query: string,
  { connection, path, method, deadline }: Asking,
): Promise<Matrix | string> {
  const parameters = {
    query,
    start: toSeconds(part.startMs),
    end: toSeconds(lastStepMs(part)),
    step: toSeconds(part.stepMs),
  }
  const sent = method === 'GET' ? { search: parameters } : { form: parameters }
  const reply = await connection.ask({ method, path, ...sent }, deadline)
  if (!reply.isAnswered) return reply.problem
  const matrix = readMatrix(reply.json)
  return typeof matrix === 'string' ? `${connection.name}: ${matrix}` : matrix
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
  readonly #hasAggregate: boolean
  readonly #series = new Set<string>()
  readonly #gaps = new Set<string>()
  #unreadable = 0
  #besideGrid = 0

  constructor(grid: StepGrid, { aggregate }: SeriesQuery) {
    this.builder = new SeriesBuilder(grid, aggregate)
    this.#grid = grid
    this.#hasAggregate = aggregate !== undefined
  }

  add({ series, remarks }: Matrix): void {
    // Cut here, since there is an answer for each part of a long window; the state depends on the first one alone.
    const gaps = remarks.filter(({ isGap }) => isGap).map(({ text }) => `the server warns: ${text}`)
    for (const gap of boundedRemarks(gaps)) this.#gaps.add(gap)
    for (const warning of boundedRemarks(remarks.map(({ text }) => text))) this.warnings.add(warning)
    for (const one of series) {
      if (!this.#hasAggregate && this.#series.size <= MAX_COUNTED_SERIES) {
        // Through bytes, since a mere slice would keep the whole text in memory.
        this.#series.add(Buffer.from(labelText(one.labels).slice(0, MAX_LABELS_LENGTH)).toString())
      }
      this.#place(one)
    }
  }

  /** From here on nothing is known. */
  lose({ startMs }: StepGrid, problem: string): void {
    this.#gaps.add(`${problem}; nothing is known from ${new Date(startMs).toISOString()} on`)
  }

  describeSeveralSeries(): string | undefined {
    const { size } = this.#series
    if (this.#hasAggregate || size <= 1) return undefined
    const count = size > MAX_COUNTED_SERIES ? `more than ${MAX_COUNTED_SERIES}` : size
    const named = [...this.#series].slice(0, MAX_NAMED_SERIES).join(', ')
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

  #place({ samples }: MatrixSeries): void {
    for (const sample of samples) {
      const [seconds, raw] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
      const value = readNumber(raw)
      const step = typeof seconds === 'number' ? stepAt(this.#grid, seconds * 1000) : undefined
      if (value === undefined || typeof seconds !== 'number') this.#unreadable += 1
      else if (step === undefined) this.#besideGrid += 1
      else this.builder.add(step, value)
    }
  }
}
