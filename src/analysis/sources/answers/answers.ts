import type { LinesAnswer, SeriesAnswer, TimeWindow } from '../../sources.js'
import type { StepGrid } from './step-grid.js'
import { shorten } from './describe-refusal.js'

/** A failed answer for a series, with one reason. */
export function failedSeries(query: string, grid: StepGrid, reason: string): SeriesAnswer {
  return {
    state: 'failed',
    reasons: [reason],
    warnings: [],
    query,
    startMs: grid.startMs,
    stepMs: grid.stepMs,
    values: new Float64Array(0),
    truncatedPoints: 0,
  }
}

/** A failed answer for the lines of a window, with one reason. */
export function failedLines(query: string, { startMs }: TimeWindow, reason: string): LinesAnswer {
  return {
    state: 'failed',
    reasons: [reason],
    warnings: [],
    query,
    lines: [],
    isTruncated: false,
    omittedLines: undefined,
    coveredUntilMs: startMs,
  }
}

const MAX_REMARKS = 10
/** Before a remark is looked at character by character. */
const MAX_REMARK_UNITS = 2000

/**
 * Remarks of a source, each one line of at most 300 characters, and at most ten of them: a source
 * may send as many as fit into its answer, and all would be stored with each interval. A last
 * remark gives the number of omitted ones.
 */
export class BoundedRemarks {
  readonly #most: number
  readonly #kept: string[] = []
  #omitted = 0

  constructor(most = MAX_REMARKS) {
    this.#most = most
  }

  add(remark: string): void {
    if (this.#kept.length < this.#most) this.#kept.push(shorten(remark.slice(0, MAX_REMARK_UNITS)))
    else this.#omitted += 1
  }

  list(): string[] {
    return this.#omitted === 0
      ? [...this.#kept]
      : [...this.#kept, `and ${this.#omitted} more of the kind, left out`]
  }
}

/** The stored part of a list of remarks. */
export function boundedRemarks(remarks: Iterable<string>, most = MAX_REMARKS): string[] {
  const bounded = new BoundedRemarks(most)
  for (const remark of remarks) bounded.add(remark)
  return bounded.list()
}
