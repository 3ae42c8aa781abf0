import type { MetricSpec } from '../series/types.js'
import type { BrokenLimit } from './check-limits.js'
import type { FarPoints } from './far-points.js'
import type { NoData } from './find-no-data.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'

/** The assessment of a metric without the others. */
export interface Assessment {
  readonly spec: MetricSpec
  readonly sides: CleanSides
  readonly noData: NoData | undefined
  readonly tested: Tested | undefined
  readonly limit: BrokenLimit | undefined
  /** Why the metric does not pass if no test found a change. */
  readonly doubt: NoData | undefined
  /** Points of the canary beyond all of its baseline. */
  readonly far: FarPoints | undefined
  /** A stretch of zeros in the canary's values, which explains a change. */
  readonly outage: string | undefined
  /**
   * Reason for a review of a change that was found: only the start has it, or the canary's value no
   * longer changes.
   */
  readonly vanished: NoData | undefined
  /** Whether one other time is the baseline, so that nothing shows how far times differ. */
  readonly isOfAnotherTime: boolean
  /** Whether the metric had points that could be compared. */
  readonly isTested: boolean
  /** The p-value to compare over all metrics: 1 if no test found a change that matters. */
  readonly p: number
}

/** A metric's p-values among those of the run. */
export interface Adjusted {
  /** Critical ones by Holm, others by Benjamini and Hochberg. */
  readonly p: number
  /** The chance of any false positive among all metrics that count (Holm). */
  readonly familyWise: number
}
