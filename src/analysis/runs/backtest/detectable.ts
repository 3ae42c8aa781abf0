import type { MetricResult } from '../../../canary/index.js'

/** (z(0.95) + z(0.8))², for an error of 0.05 on one side and a power of 0.8. */
const POWER_FACTOR = 6.18

/**
 * The smallest change that 8 of 10 runs of this length find, as a share of the baseline. For counts
 * it follows from the number of events: their rates e apart differ by e E / sqrt((2 + e) E)
 * standard errors. Undefined without a level or without events.
 */
export function detectableOf({ finding, controlStats: { mean, count } }: MetricResult): number | undefined {
  if (finding === null) return undefined
  if (finding.kind !== 'count') return finding.detectable ?? undefined
  const events = mean * count
  if (events <= 0) return undefined
  return (POWER_FACTOR + Math.sqrt(POWER_FACTOR ** 2 + 8 * POWER_FACTOR * events)) / (2 * events)
}

/**
 * Minutes after which 8 of 10 runs find a change, if runs of `minutes` find `detectable`: errors
 * shrink with the root of the time.
 */
export function minutesToFind(change: number, detectable: number, minutes: number): number {
  return minutes * (detectable / change) ** 2
}
