import type { LinesAnswer, SeriesAnswer, TimeWindow } from '../../sources.js'
import type { StepGrid } from './step-grid.js'
import { shorten } from './describe-refusal.js'

/** Nothing can be said of a series, for one reason. */
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

/** Nothing can be said of the lines of a window, for one reason. */
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
 * What a source says of its answer, each remark one line of at most 300 characters and no more than ten of them: it may say as much as fits into
 * its answer, and all of it would be kept with each interval. A last one says how many were left out.
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

/** All of some remarks that is kept. */
export function boundedRemarks(remarks: Iterable<string>, most = MAX_REMARKS): string[] {
  const bounded = new BoundedRemarks(most)
  for (const remark of remarks) bounded.add(remark)
  return bounded.list()
}
