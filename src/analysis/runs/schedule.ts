import type { TimeWindow } from '../sources.js'
import type { PlannedSide, Timing } from './plan.js'

/** How many looks a run takes: one at the end of each whole interval, one at least. */
export function lookCount({ lifetimeMs, intervalMs }: Timing): number {
  return Math.max(1, Math.floor(lifetimeMs / intervalMs))
}

/** When a look (the first is 1) is due: once its interval is over and its data have arrived. */
export function lookDueMs(timing: Timing, look: number): number {
  return timing.startedMs + timing.warmUpMs + elapsedMs(timing, look) + timing.delayMs
}

/** What a side is looked at: from its start, or the last part of it when the window slides. */
export function lookWindow(timing: Timing, side: PlannedSide, look: number): TimeWindow {
  const startMs = side.startMs + timing.warmUpMs
  const endMs = startMs + elapsedMs(timing, look)
  if (timing.lookBackMs === undefined) return { startMs, endMs }
  return { startMs: Math.max(startMs, endMs - timing.lookBackMs), endMs }
}

/** The last look takes what is left over of the lifetime. */
function elapsedMs(timing: Timing, look: number): number {
  return look >= lookCount(timing) ? Math.max(timing.lifetimeMs, timing.intervalMs) : look * timing.intervalMs
}
