import type { FetchBudget, SeriesAnswer, SeriesQuery, SeriesAggregate } from '../../sources.js'
import { fetchGrid } from '../answers/fetch-grid.js'
import type { GridPart } from '../answers/grid-part.js'
import type { Deadline, SourceConnection, SourceRequest } from '../answers/source-connection.js'
import { lastStepMs, stepAt } from '../answers/step-grid.js'
import type { StepGrid } from '../answers/step-grid.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { queryResult } from '../answers/answer-reading.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { GridPartBuilder } from '../answers/grid-part.js'
import { readNumber } from '../answers/read-number.js'
import { NATIVE_HISTOGRAMS, isAboutData, labelText, readSeries, refuseOther } from './read-matrix.js'

export interface RangeSettings {
  /**
   * `/api/v1/query_range`, by POST since queries may be longer than a URL; or Loki's, which only
   * supports GET.
   */
  readonly path: string
  readonly method: 'GET' | 'POST'
  readonly maxPoints: number
}

/** Servers refuse more than 11,000 points a series; some count the step at either end. */
const POINTS_PER_REQUEST = 10_000

/**
 * Fetches a series by range queries from Prometheus and compatible servers. Raises `invalid` for a
 * template that cannot be filled.
 */
export function fetchRange(
  query: SeriesQuery,
  budget: FetchBudget,
  connection: SourceConnection,
  settings: RangeSettings,
): Promise<SeriesAnswer> {
  const text = fillLabelQuery(query.query, query.scope)
  const fetchPart = async (part: StepGrid, deadline: Deadline): Promise<GridPart | string> => {
    const { startMs, stepMs } = part
    const request = rangeRequest(text, { startMs, lastMs: lastStepMs(part), stepMs }, settings)
    const reply = await connection.send(request, deadline, () => readRange(part, query.aggregate))
    if (!reply.isAnswered) return reply.problem
    return typeof reply.answer === 'string' ? `${connection.name}: ${reply.answer}` : reply.answer
  }
  return fetchGrid(query, budget, connection, {
    ...{ textFor: () => text, maxPoints: settings.maxPoints, fetchPart },
    pointsPerRequest: POINTS_PER_REQUEST,
  })
}

/** A range query from `startMs` to `lastMs`. */
export function rangeRequest(
  query: string,
  { startMs, lastMs, stepMs }: { readonly startMs: number; readonly lastMs: number; readonly stepMs: number },
  { path, method }: RangeSettings,
): SourceRequest {
  const parameters = {
    query,
    start: toSeconds(startMs),
    end: toSeconds(lastMs),
    step: toSeconds(stepMs),
  }
  return { method, path, ...(method === 'GET' ? { search: parameters } : { form: parameters }) }
}

/** With a decimal point, by which Loki distinguishes seconds from nanoseconds. */
function toSeconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}

/**
 * Reads an answer to `query_range` of Prometheus, of compatible servers, and of Loki's metric
 * queries incrementally: only the contribution of each sample to its step is kept. Returns a
 * sentence if it is not an answer.
 */
function readRange(grid: StepGrid, aggregate: SeriesAggregate | undefined): ReadAnswer<GridPart | string> {
  const reading = new RangeAnswer(grid, aggregate)
  const elements = {
    members: {
      values: {
        take: (samples: readonly unknown[]) => samples.forEach((sample) => reading.addSample(sample)),
      },
      histograms: { take: () => reading.fail(NATIVE_HISTOGRAMS) },
    },
  }
  return {
    arrays: queryResult(
      // Samples arrive before the label of their series. If the label matters, a series is kept
      // until it is complete.
      aggregate === 'units'
        ? { take: (series) => series.forEach((one) => reading.addWholeSeries(one)) }
        : { take: (series) => series.forEach((one) => reading.addSeries(one)), elements },
      {
        warnings: { take: (texts) => texts.forEach((text) => reading.addWarning(text)) },
        infos: { take: (texts) => texts.forEach((text) => reading.addInfo(text)) },
      },
    ),
    end: (rest) => reading.problemOf(rest) ?? reading.part(),
  }
}

class RangeAnswer {
  readonly #grid: StepGrid
  readonly #part: GridPartBuilder
  #problem: string | undefined
  #isOther = false

  constructor(grid: StepGrid, aggregate: SeriesAggregate | undefined) {
    this.#grid = grid
    this.#part = new GridPartBuilder(grid, aggregate)
  }

  /** A series without its samples. */
  addSeries(raw: unknown): void {
    const series = readSeries(raw)
    if (typeof series === 'string') this.fail(series)
    else this.#part.addSeries(() => labelText(series.labels))
  }

  addWholeSeries(raw: unknown): void {
    this.addSeries(raw)
    const series = readSeries(raw)
    if (typeof series !== 'string') for (const sample of series.samples) this.addSample(sample)
  }

  addSample(sample: unknown): void {
    const [seconds, raw] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
    if (typeof seconds !== 'number') this.#part.addValue(undefined, undefined, Number.NaN)
    else this.#part.addValue(stepAt(this.#grid, seconds * 1000), readNumber(raw), seconds * 1000)
  }

  addWarning(text: unknown): void {
    this.addInfo(text)
    if (typeof text === 'string' && isAboutData(text)) this.#part.addGap(`the server warns: ${text}`)
  }

  addInfo(text: unknown): void {
    if (typeof text === 'string') this.#part.addWarning(text)
    else this.#isOther = true
  }

  /** Notes the problem of a series; only the first one is reported. */
  fail(problem: string): void {
    this.#problem ??= problem
  }

  problemOf(rest: unknown): string | undefined {
    return refuseOther(this.#isOther ? undefined : rest) ?? this.#problem
  }

  part(): GridPart {
    return this.#part.part()
  }
}
