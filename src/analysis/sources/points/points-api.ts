import type { Scope } from '../../sources.js'
import type { SourceRequest } from '../answers/source-connection.js'
import type { StepGrid } from '../answers/step-grid.js'

/** One series of an answer: values at times that the server chose. */
export interface PointSeries {
  /** Tells it from the other series of the answer. */
  readonly label: string
  /** Times in ms since the epoch, and values as they were sent; null is a gap. */
  readonly points: readonly (readonly [atMs: number, value: unknown])[]
}

/** What is read of one answer. */
export interface PointsAnswer {
  readonly series: readonly PointSeries[]
  /** Why something may be missing, as whole sentences. */
  readonly gaps?: readonly string[]
  readonly warnings?: readonly string[]
  /** How the rest of the answer is asked for, where this is not all of it. */
  readonly nextPage?: string | undefined
}

/** How one kind of server is asked for values with times, and what its answers mean. */
export interface PointsApi {
  /** The query with the values of the scope in their places. Raises `invalid` naming everything that is wrong. */
  readonly fill: (template: string, scope: Scope) => string
  /** The text as it is sent for the steps of a grid, where the window stands within it. */
  readonly withWindow?: (text: string, grid: StepGrid) => string
  /** The request for the steps of a grid, from the start of the first up to the end of the last. */
  readonly request: (text: string, grid: StepGrid, page: string | undefined) => SourceRequest
  /** What an answer for the steps of a grid holds, or why it holds nothing: a sentence. */
  readonly read: (json: unknown, grid: StepGrid) => PointsAnswer | string
  /** The most steps that one request may be of. */
  readonly pointsPerRequest: number
}

/** The end of the last step, in ms since the epoch. */
export function endMs({ startMs, stepMs, count }: StepGrid): number {
  return startMs + stepMs * count
}

/** What a whole answer of an unknown kind is called. */
export function notAnAnswer(of: string): string {
  return `the answer is not the JSON of ${of}`
}
