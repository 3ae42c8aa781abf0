import { logChoose } from './log-gamma.js'

/** Counts with and without events, on both sides. */
export interface TwoByTwo {
  readonly canaryEvents: number
  readonly canaryOthers: number
  readonly baselineEvents: number
  readonly baselineOthers: number
}

export interface FisherExact {
  /** P(as many events on the canary, or more), all margins given. */
  readonly greater: number
  /** P(as many events on the canary, or fewer). */
  readonly less: number
  /** P(a table as unlikely as this one, or more). */
  readonly twoSided: number
}

/**
 * Relative tolerance within which tables count as equally likely: sums of logarithms differ in
 * their last digits.
 */
const TIE_TOLERANCE = 1e-7

/**
 * Fisher's exact test by the hypergeometric distribution. Takes time linear in the smaller margin.
 */
export function fisherExact(table: TwoByTwo): FisherExact {
  const { canaryEvents, canaryOthers, baselineEvents, baselineOthers } = table
  const canary = canaryEvents + canaryOthers
  const baseline = baselineEvents + baselineOthers
  const events = canaryEvents + baselineEvents
  const least = Math.max(0, events - baseline)
  const most = Math.min(events, canary)
  const logAll = logChoose(canary + baseline, events)
  const probability = (count: number): number =>
    Math.exp(logChoose(canary, count) + logChoose(baseline, events - count) - logAll)
  const observed = probability(canaryEvents)
  let [greater, less, twoSided] = [0, 0, 0]
  for (let count = least; count <= most; count += 1) {
    const share = probability(count)
    if (count >= canaryEvents) greater += share
    if (count <= canaryEvents) less += share
    if (share <= observed * (1 + TIE_TOLERANCE)) twoSided += share
  }
  return { greater: Math.min(1, greater), less: Math.min(1, less), twoSided: Math.min(1, twoSided) }
}
