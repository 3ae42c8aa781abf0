import type { StoredRun } from '../../../store/ports/analysis-store.js'
import type { TimeWindow } from '../../sources.js'
import type { PlannedSide, RunPlan, Timing } from '../definitions/plan.js'

/** How many looks a run takes: one at the end of each whole interval, one at least. */
export function lookCount({ lifetimeMs, intervalMs }: Timing): number {
  return Math.max(1, Math.floor(lifetimeMs / intervalMs))
}

/** So late a run gives up the looks in between. */
const PATIENCE_MS = 300_000

/**
 * The look to take next. A run that is late, because its looks take longer than its interval or nothing was running, takes the last
 * one at once where that sees all that the others would have. A sliding window does not, and Kayenta ends at the first that fails.
 */
export function lookToTake(
  { timing, judge }: RunPlan,
  run: Pick<StoredRun, 'looksDone' | 'startedMs'>,
  nowMs: number,
): number {
  const last = lookCount(timing)
  // It may have been registered after its data began.
  const overMs = Math.max(lookDueMs(timing, last), run.startedMs) + PATIENCE_MS
  const isCovered = timing.lookBackMs === undefined && judge === 'default'
  return isCovered && nowMs > overMs ? last : run.looksDone + 1
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
