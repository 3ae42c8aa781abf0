import type { TimeWindow } from '../../sources.js'

/** Times at which a series has values: `startMs`, then every `stepMs`, `count` of them. */
export interface StepGrid {
  readonly startMs: number
  readonly stepMs: number
  readonly count: number
}

/** A sample may be this far from its step: sources round times to the millisecond. */
const TOLERANCE_MS = 1

/**
 * The multiples of the step within a window. Two windows of one length have equally many steps if
 * the length is a multiple of the step, wherever they start.
 */
export function stepGrid({ startMs, endMs }: TimeWindow, stepMs: number): StepGrid {
  const first = Math.ceil(startMs / stepMs) * stepMs
  return { startMs: first, stepMs, count: Math.max(0, Math.ceil((endMs - first) / stepMs)) }
}

/** The first steps of a grid, at most `maxCount`. */
export function shortened(grid: StepGrid, maxCount: number): StepGrid {
  return { ...grid, count: Math.min(grid.count, maxCount) }
}

/** A grid in consecutive parts of at most `maxCount` steps. */
export function splitGrid({ startMs, stepMs, count }: StepGrid, maxCount: number): StepGrid[] {
  return Array.from({ length: Math.ceil(count / maxCount) }, (_, part) => ({
    startMs: startMs + part * maxCount * stepMs,
    stepMs,
    count: Math.min(maxCount, count - part * maxCount),
  }))
}

/** The time of the last step. */
export function lastStepMs({ startMs, stepMs, count }: StepGrid): number {
  return startMs + (count - 1) * stepMs
}

/** The step at a time; undefined off the grid. */
export function stepAt({ startMs, stepMs, count }: StepGrid, ms: number): number | undefined {
  const index = Math.round((ms - startMs) / stepMs)
  const isOnGrid = Math.abs(startMs + index * stepMs - ms) <= TOLERANCE_MS
  return isOnGrid && index >= 0 && index < count ? index : undefined
}

/** The step that a time belongs to when each reaches up to the next; undefined outside the grid. */
export function stepAround({ startMs, stepMs, count }: StepGrid, ms: number): number | undefined {
  const index = Math.floor((ms - startMs) / stepMs)
  return index >= 0 && index < count ? index : undefined
}
