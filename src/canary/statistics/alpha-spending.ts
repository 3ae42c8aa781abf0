import { normalUpperQuantile, normalUpperTail } from './normal.js'

/**
 * Share of the error that is spent evenly, so that a clear change at the first points need not wait
 * for the last.
 */
const EVEN_SHARE = 0.1

/** The position of an interval among the planned intervals of a run. */
export interface PlannedInterval {
  readonly interval: number
  readonly intervals: number
  /** The interval that was judged before, 0 for none. The preceding one by default. */
  readonly after?: number | undefined
}

/**
 * The error of one of several intervals by O'Brien and Fleming's spending (Lan and DeMets 1983):
 * the increase of 2 - 2 Phi(z / sqrt(t)), at the share t of the run, since the interval before.
 * However the intervals depend on each other, they spend at most `alpha` in total. A single
 * interval has all of it.
 */
export function spendAlpha(alpha: number, planned: PlannedInterval | undefined): number {
  if (planned === undefined) return alpha
  const { interval, intervals, after = interval - 1 } = planned
  const z = normalUpperQuantile(alpha / 2)
  const upTo = (done: number): number =>
    done === 0 ? 0 : 2 * normalUpperTail(z / Math.sqrt(done / intervals))
  return upTo(interval) - upTo(after)
}

/**
 * The error of one of several intervals by `spendAlpha`, except for a tenth that is spent evenly
 * over the run: with O'Brien and Fleming's spending alone, the first of twelve intervals could find
 * nothing.
 */
export function spendAlphaFromStart(alpha: number, planned: PlannedInterval | undefined): number {
  if (planned === undefined) return alpha
  const { interval, intervals, after = interval - 1 } = planned
  const even = (EVEN_SHARE * alpha * (interval - after)) / intervals
  return spendAlpha((1 - EVEN_SHARE) * alpha, planned) + even
}
