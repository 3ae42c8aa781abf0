import type { Scope } from '../../sources.js'
import type { SourceRequest } from '../answers/source-connection.js'
import type { StepGrid } from '../answers/step-grid.js'

/** One series of an answer: values at times that the server chose. */
export interface PointSeries {
  /** Distinguishes it from the other series of the answer. */
  readonly label: string
  /** Times in ms since the epoch, and values as they were sent; null is a gap. */
  readonly points: readonly (readonly [atMs: number, value: unknown])[]
}

/** The content of one answer. */
export interface PointsAnswer {
  readonly series: readonly PointSeries[]
  /** Why something may be missing, as whole sentences. */
  readonly gaps?: readonly string[]
  readonly warnings?: readonly string[]
  /** The token of the rest of the answer, if this is a part. */
  readonly nextPage?: string | undefined
}

/** The requests for points to one kind of server, and the meaning of its answers. */
export interface PointsApi {
  /** The query with the values of the scope filled in. Raises `invalid` with all problems. */
  readonly fill: (template: string, scope: Scope) => string
  /** The text to send for the steps of a grid, if it contains the window. */
  readonly withWindow?: (text: string, grid: StepGrid) => string
  /** The request for the steps of a grid, from the start of the first up to the end of the last. */
  readonly request: (text: string, grid: StepGrid, page: string | undefined) => SourceRequest
  /**
   * The points of an answer for the steps of a grid, or a sentence that says why there are none.
   */
  readonly read: (json: unknown, grid: StepGrid) => PointsAnswer | string
  /** The most steps that one request may be of. */
  readonly pointsPerRequest: number
}

/** The end of the last step, in ms since the epoch. */
export function endMs({ startMs, stepMs, count }: StepGrid): number {
  return startMs + stepMs * count
}

/** The problem of an answer of an unknown kind. */
export function notAnAnswer(of: string): string {
  return `the answer is not the JSON of ${of}`
}
