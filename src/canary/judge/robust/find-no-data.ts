import type { MetricSeries, MetricSpec, NoDataPolicy, NoDataState, Side } from '../series/types.js'
import type { CleanSides } from './samples/metric-tests.js'

/** The state of a metric that cannot be judged, and the reason. */
export interface NoData {
  readonly state: NoDataState
  readonly reason: string
}

/**
 * States that fail the run in a critical or required metric, unless it configures another policy.
 */
const FAILS_WHERE_DATA_IS_MUST: readonly NoDataState[] = [
  'sourceError',
  'outOfRange',
  'empty',
  'oneSideEmpty',
]

/** Why a metric cannot be judged; undefined when it can. */
export function findNoData(
  { spec, control, experiment }: MetricSeries,
  sides: CleanSides,
  minPoints: number,
): NoData | undefined {
  const error = experiment.error ?? control.error
  if (error !== undefined) return { state: 'sourceError', reason: `No answer from the source: ${error}` }
  const outOfRange = experiment.outOfRange ?? control.outOfRange
  if (outOfRange !== undefined) return { state: 'outOfRange', reason: outOfRange }
  const [hasControl, hasExperiment] = [hasPoints(control), hasPoints(experiment)]
  if (!hasControl && !hasExperiment) return { state: 'empty', reason: 'Neither side has a value' }
  // If the metric fills gaps with zeros, a side of gaps only has data; a side without points has
  // none.
  const isFilled = spec.nanStrategy === 'replace' && control.values.length > 0 && experiment.values.length > 0
  if ((!hasControl || !hasExperiment) && !isFilled) {
    return { state: 'oneSideEmpty', reason: `The ${hasControl ? 'canary' : 'baseline'} has no value` }
  }
  const idle = [experiment, control].find(isWithoutTraffic)
  if (idle !== undefined) return { state: 'noTraffic', reason: idleReason(idle, idle === experiment) }
  const [n, m] = [sides.control.values.length, sides.experiment.values.length]
  if (Math.min(n, m) < minPoints) {
    return {
      state: 'tooFewPoints',
      reason: `Too few points: ${n} in the baseline, ${m} in the canary. At least ${minPoints} are needed on each side`,
    }
  }
  return undefined
}

/** The consequence of a state for the run. */
export function policyOf(state: NoDataState, spec: MetricSpec): NoDataPolicy {
  // Missing data has a configurable policy. A doubtful finding always needs a review.
  if (state === 'undecided' || state === 'doubtful') return 'review'
  const given = spec.noData[state]
  if (given !== undefined) return given
  return (spec.critical || spec.mustHaveData) && FAILS_WHERE_DATA_IS_MUST.includes(state) ? 'fail' : 'review'
}

function hasPoints({ values }: Side): boolean {
  return values.some((value) => !Number.isNaN(value))
}

function idleReason({ exposure }: Side, isExperiment: boolean): string {
  const side = isExperiment ? 'canary' : 'baseline'
  return exposure?.every(Number.isNaN) === true
    ? `The traffic of the ${side} is not known: its exposure has no value`
    : `The ${side} had no traffic`
}

function isWithoutTraffic({ exposure }: Side): boolean {
  return exposure !== undefined && !exposure.some((amount) => amount > 0)
}
