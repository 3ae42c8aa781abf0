import { normalUpperQuantile, normalUpperTail } from './normal.js'

/** So much of the error is spent evenly: what is plain from the first points on need not wait for the last. */
const EVEN_SHARE = 0.1

/** Which of the planned looks at the data of a run this is. */
export interface PlannedInterval {
  readonly interval: number
  readonly intervals: number
  /** The look that was taken before it, 0 for none; where nothing is said, the one just before. */
  readonly after?: number | undefined
}

/**
 * The error that one of several looks may make: what the spending of O'Brien and Fleming's kind (Lan and DeMets 1983), 2 - 2
 * Phi(z / sqrt(t)) at the share t of the run, allows now and had not allowed at the look before. However the looks hang together,
 * they spend no more than `alpha` in all. All of it where there is one look only.
 */
export function spendAlpha(alpha: number, planned: PlannedInterval | undefined): number {
  if (planned === undefined) return alpha
  const { interval, intervals, after = interval - 1 } = planned
  const z = normalUpperQuantile(alpha / 2)
  const upTo = (done: number): number => (done === 0 ? 0 : 2 * normalUpperTail(z / Math.sqrt(done / intervals)))
  return upTo(interval) - upTo(after)
}

/**
 * The same, but for a tenth of the error that is spent evenly over the run: of O'Brien and Fleming's kind alone, the first of
 * twelve could find nothing at all.
 */
export function spendAlphaFromStart(alpha: number, planned: PlannedInterval | undefined): number {
  if (planned === undefined) return alpha
  const { interval, intervals, after = interval - 1 } = planned
  const even = (EVEN_SHARE * alpha * (interval - after)) / intervals
  return spendAlpha((1 - EVEN_SHARE) * alpha, planned) + even
}
