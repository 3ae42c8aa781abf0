import type { StoredRun } from '../../../store/ports/analysis-store.js'
import type { TimeWindow } from '../../sources.js'
import type { PlannedSide, RunPlan, Timing } from '../definitions/plan.js'

/** How many intervals a run has: the whole ones of its lifetime, one at least. */
export function intervalCount({ lifetimeMs, intervalMs }: Timing): number {
  return Math.max(1, Math.floor(lifetimeMs / intervalMs))
}

/** How late a run may be before the intervals in between are left out. */
const MAX_LATE_MS = 300_000

/**
 * The interval to judge next. A run may be late because judging takes longer than an interval or
 * the service was down. It then skips to the last due interval if that includes the data of the
 * others. A sliding window does not, and Kayenta ends at the first failure.
 */
export function intervalToJudge(
  { timing, judge }: RunPlan,
  run: Pick<StoredRun, 'intervalsDone' | 'startedMs'>,
  nowMs: number,
): number {
  const last = intervalCount(timing)
  // It may have been registered after its data began.
  const overMs = Math.max(intervalDueMs(timing, last), run.startedMs) + MAX_LATE_MS
  const isCovered = timing.lookBackMs === undefined && judge === 'default'
  return isCovered && nowMs > overMs ? last : run.intervalsDone + 1
}

/** Due time of an interval (the first is 1): after its end and the arrival of its data. */
export function intervalDueMs(timing: Timing, interval: number): number {
  return timing.startedMs + timing.warmUpMs + elapsedMs(timing, interval) + timing.delayMs
}

/** The window of a side: from its start, or the last part of it for a sliding window. */
export function intervalWindow(timing: Timing, side: PlannedSide, interval: number): TimeWindow {
  const startMs = side.startMs + timing.warmUpMs
  const endMs = startMs + elapsedMs(timing, interval)
  if (timing.lookBackMs === undefined) return { startMs, endMs }
  return { startMs: Math.max(startMs, endMs - timing.lookBackMs), endMs }
}

/** The window of the canary in an interval; of several services, the first one's. */
export function canaryWindow({ targets, timing }: RunPlan, interval: number): TimeWindow {
  const side = targets[0]?.metrics?.canary ?? targets[0]?.logs?.canary
  return side === undefined ? { startMs: 0, endMs: 0 } : intervalWindow(timing, side, interval)
}

/** The last interval includes the remainder of the lifetime. */
function elapsedMs(timing: Timing, interval: number): number {
  return interval >= intervalCount(timing)
    ? Math.max(timing.lifetimeMs, timing.intervalMs)
    : interval * timing.intervalMs
}

/** Minimum budget of all queries of an interval together, in milliseconds. */
const MIN_BUDGET_MS = 30_000
const MAX_BUDGET_MS = 240_000

/** Maximum duration of an interval of a run, whatever its sources do. */
export function intervalBudgetMs(intervalMs: number): number {
  return Math.min(Math.max(intervalMs, MIN_BUDGET_MS), MAX_BUDGET_MS)
}
