import type { SeriesAggregate } from '../../sources.js'
import { queryResult } from '../answers/answer-reading.js'
import type { ReadAnswer } from '../answers/answer-reading.js'
import { BoundedRemarks } from '../answers/answers.js'
import { readNumber } from '../answers/read-number.js'
import { SeriesBuilder } from '../answers/series-builder.js'
import { stepAt } from '../answers/step-grid.js'
import type { StepGrid } from '../answers/step-grid.js'
import { NATIVE_HISTOGRAMS, isAboutData, labelText, readSeries, refuseOther } from './read-matrix.js'

/** What an answer to `query_range` has of a grid. */
export interface RangePart {
  readonly grid: StepGrid
  readonly builder: SeriesBuilder
  /** Of the series, where nothing joins several; no more than `MAX_COUNTED_SERIES` and one. */
  readonly labels: ReadonlySet<string>
  /** What the server remarks of data that may be missing. */
  readonly gaps: readonly string[]
  /** All that it remarks. */
  readonly warnings: readonly string[]
  /** Values that are no numbers. */
  readonly unreadable: number
  readonly besideGrid: number
}

/** More series are only said to be more. */
export const MAX_COUNTED_SERIES = 100
/** Beyond it series are not told apart, and only their number is of use then. */
const MAX_LABELS_LENGTH = 4096

/**
 * Reads an answer to `query_range` of Prometheus, of what speaks its API, and of Loki's metric queries, while it comes: of each
 * sample only what it adds to its step is kept. Gives a sentence where the answer is none.
 */
export function readRange(
  grid: StepGrid,
  aggregate: SeriesAggregate | undefined,
): ReadAnswer<RangePart | string> {
  const reading = new RangeAnswer(grid, aggregate)
  return {
    arrays: queryResult(
      {
        take: (series) => series.forEach((one) => reading.addSeries(one)),
        elements: {
          members: {
            values: { take: (samples) => samples.forEach((sample) => reading.addSample(sample)) },
            histograms: { take: () => reading.fail(NATIVE_HISTOGRAMS) },
          },
        },
      },
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
  readonly #builder: SeriesBuilder
  readonly #hasAggregate: boolean
  readonly #labels = new Set<string>()
  readonly #gaps = new BoundedRemarks()
  readonly #warnings = new BoundedRemarks()
  #problem: string | undefined
  #isOther = false
  #unreadable = 0
  #besideGrid = 0

  constructor(grid: StepGrid, aggregate: SeriesAggregate | undefined) {
    this.#grid = grid
    this.#builder = new SeriesBuilder(grid, aggregate)
    this.#hasAggregate = aggregate !== undefined
  }

  /** A series without its samples. */
  addSeries(raw: unknown): void {
    const series = readSeries(raw)
    if (typeof series === 'string') {
      this.fail(series)
      return
    }
    if (this.#hasAggregate || this.#labels.size > MAX_COUNTED_SERIES) return
    // Through bytes, since a mere slice would keep the whole text in memory.
    this.#labels.add(Buffer.from(labelText(series.labels).slice(0, MAX_LABELS_LENGTH)).toString())
  }

  addSample(sample: unknown): void {
    const [seconds, raw] = Array.isArray(sample) ? (sample as readonly unknown[]) : []
    const value = readNumber(raw)
    const step = typeof seconds === 'number' ? stepAt(this.#grid, seconds * 1000) : undefined
    if (value === undefined || typeof seconds !== 'number') this.#unreadable += 1
    else if (step === undefined) this.#besideGrid += 1
    else this.#builder.add(step, value)
  }

  addWarning(text: unknown): void {
    this.addInfo(text)
    if (typeof text === 'string' && isAboutData(text)) this.#gaps.add(text)
  }

  addInfo(text: unknown): void {
    if (typeof text === 'string') this.#warnings.add(text)
    else this.#isOther = true
  }

  /** What is wrong with a series; only the first is told. */
  fail(problem: string): void {
    this.#problem ??= problem
  }

  problemOf(rest: unknown): string | undefined {
    return refuseOther(this.#isOther ? undefined : rest) ?? this.#problem
  }

  part(): RangePart {
    return {
      ...{ grid: this.#grid, builder: this.#builder, labels: this.#labels },
      ...{ gaps: this.#gaps.list(), warnings: this.#warnings.list() },
      ...{ unreadable: this.#unreadable, besideGrid: this.#besideGrid },
    }
  }
}
