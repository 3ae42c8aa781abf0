import type { MetricResult } from '../../canary/index.js'

const FULL = 100
/** What was judged, and asks people to look. */
const SEEN: readonly unknown[] = ['undecided', 'doubtful']

/**
 * The order in which the metrics of one judgement are told, wherever they are: critical ones, what is beyond doubt, what lost points, the most first,
 * what people are to look at, what could not be judged, what is worth a look, what passed, and last what does not count. Compares as `sort` wants it.
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
