import type { LinesAnswer, SeriesAnswer, TimeWindow } from '../sources.js'
import type { StepGrid } from './step-grid.js'

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
