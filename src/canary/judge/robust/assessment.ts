import type { MetricSpec } from '../series/types.js'
import type { BrokenLimit } from './check-limits.js'
import type { NoData } from './find-no-data.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'

/** A metric as far as it can be judged without the others. */
export interface Assessment {
  readonly spec: MetricSpec
  readonly sides: CleanSides
  readonly noData: NoData | undefined
  readonly tested: Tested | undefined
  readonly limit: BrokenLimit | undefined
  /** Why the metric does not pass where no test found a change. */
  readonly doubt: NoData | undefined
  /** A stretch in which the canary's values were 0: what a change that was found then means. */
  readonly outage: string | undefined
  /** Why a change that was found is for people to say: only the start has it, or one value that stays. */
  readonly vanished: NoData | undefined
  /** Whether the metric had points that could be compared. */
  readonly isTested: boolean
  /** What to compare over all metrics: 1 when no test found a change that matters. */
  readonly p: number
}

/** A metric's p-values among those of the run. */
export interface Adjusted {
  /** Critical ones by Holm, others by Benjamini and Hochberg. */
  readonly p: number
  /** Of any false one among all metrics that count (Holm). */
  readonly familyWise: number
}
