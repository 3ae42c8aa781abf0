import type { MetricResult } from '../../canary/index.js'

const FULL = 100
/** States of metrics that were judged and need a review. */
const SEEN: readonly unknown[] = ['undecided', 'doubtful']

/**
 * The order of metrics in reports and summaries: critical failures, changes beyond doubt, changes
 * that lost points (most first), metrics to review, metrics that could not be judged, metrics with
 * notes, passed metrics, and last muted ones. A comparison function for `sort`.
 */
export function byUrgency(a: MetricResult, b: MetricResult): number {
  return (
    rankOf(a) - rankOf(b) ||
    Number(a.noData !== null) - Number(b.noData !== null) ||
    pointsOf(a) - pointsOf(b)
  )
}

function rankOf({
  classification,
  critical,
  muted,
  score,
  noData,
  notes,
  isBeyondDoubt,
}: MetricResult): number {
  if (muted) return 7
  if (critical) return 0
  if (isBeyondDoubt === true) return 1
  if (score !== null && score < FULL) return 2
  if (classification === 'High' || classification === 'Low' || SEEN.includes(noData?.state)) return 3
  if (classification !== 'Pass') return 4
  return notes === undefined ? 6 : 5
}

function pointsOf({ score }: MetricResult): number {
  return score ?? FULL
}
