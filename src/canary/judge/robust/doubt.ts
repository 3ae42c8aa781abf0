import { short } from '../../../lib/text/figures.js'
import { longestRun } from '../../statistics/longest-run.js'
import type { MetricSeries, Side } from '../series/types.js'
import { burstsOf } from './bursts.js'
import type { NoData } from './find-no-data.js'
import { notComparable } from './samples/comparable.js'
import { stuckOf } from './vanished-start.js'
import { baselineLevel } from './samples/baseline-level.js'
import { PLAIN_START } from './tests/stretch-outcomes.js'
import { kindOfValues } from './samples/kind-of-values.js'
import { harmfulSigns } from './samples/metric-tests.js'
import type { CleanSides, Tested } from './samples/metric-tests.js'

/**
 * Minimum number of points without a value at the end, and minimum share of all points, beyond
 * which data is not just late.
 */
const SILENT_POINTS = 5
const SILENT_SHARE = 0.1
/**
 * Share of the silence for which the control must have values: sparse series are silent on both
 * sides.
 */
const HEARD_SHARE = 0.9
/** This many points in a row far beyond the baseline are seen by everybody. */
const FAR_POINTS = 3
/** Maximum distance, in standard deviations, that is usual between units or former runs. */
const USUAL_DEVIATIONS = 3

/**
 * The reason why a metric without a found change does not pass: the canary fell silent or to 0, or
 * many more events came in a burst, which counts as one event. Undefined if there is no reason.
 * `tested` holds the results of the tests.
 */
export function doubtOf(
  metric: MetricSeries,
  sides: CleanSides,
  outage: string | undefined,
  tested: Tested | undefined,
): NoData | undefined {
  const silent =
    silenceOf(metric) ?? stuckOf(sides) ?? burstsToReview(metric, sides, tested) ?? fallToZero(metric, outage)
  const reason =
    silent ??
    gapOf(metric) ??
    farRun(metric, sides, tested?.units?.deviation ?? 0) ??
    notComparable(metric, sides)
  return reason === undefined ? undefined : { state: 'doubtful', reason }
}

function silenceOf({ spec, control, experiment }: MetricSeries): string | undefined {
  const points = Math.max(control.values.length, experiment.values.length)
  // Zeros that stand for gaps are values. Points that were never written are not.
  const hasValue = (value: number): boolean => spec.nanStrategy === 'replace' || !Number.isNaN(value)
  const last = experiment.values.findLastIndex(hasValue)
  const silent = points - 1 - last
  if (silent < Math.max(SILENT_POINTS, points * SILENT_SHARE)) return undefined
  const heard = control.values.subarray(last + 1).filter(hasValue).length
  if (heard < silent * HEARD_SHARE) return undefined
  return `The canary has no value in the last ${silent} of ${points} points, but the baseline has. Check whether the canary still runs`
}

function burstsToReview(
  { spec }: MetricSeries,
  sides: CleanSides,
  tested: Tested | undefined,
): string | undefined {
  const bursts = burstsOf(spec, sides, tested)
  return bursts?.needsReview === true ? bursts.says : undefined
}

/** If only a rise is harm, 0 is welcome. */
function fallToZero({ spec }: MetricSeries, outage: string | undefined): string | undefined {
  return spec.direction === 'increase' ? undefined : outage
}

/** A gap in the middle of the canary's values at a time when the baseline has values. */
function gapOf({ spec, control, experiment }: MetricSeries): string | undefined {
  if (spec.nanStrategy === 'replace') return undefined
  const points = Math.max(control.values.length, experiment.values.length)
  const { from, to } = longestRun(experiment.values, Number.isNaN)
  const gap = to - from
  if (from === 0 || to === experiment.values.length || gap < Math.max(SILENT_POINTS, points * SILENT_SHARE))
    return undefined
  const known = ({ values }: Side, start: number, end: number): number =>
    values.subarray(start, end).filter((value) => !Number.isNaN(value)).length
  const isKnownElsewhere = known(experiment, 0, points) >= (points - gap) * HEARD_SHARE
  if (!isKnownElsewhere || known(control, from, to) < gap * HEARD_SHARE) return undefined
  return `The canary has no value for ${gap} of ${points} points from point ${from + 1} on, but the baseline has. Check what happened`
}

/**
 * Consecutive points that are further from the baseline than its own range. A start is left to
 * `passingChanges`, unless it is long and high.
 */
function farRun({ spec }: MetricSeries, sides: CleanSides, betweenUnits: number): string | undefined {
  const { control, experiment } = sides
  if (kindOfValues(sides, spec.kind) === 'count') return undefined
  const [low, high] = [control.sorted[0] ?? 0, control.sorted.at(-1) ?? 0]
  if (low === high) return undefined
  const level = baselineLevel(control.sorted)
  for (const sign of harmfulSigns(spec.direction)) {
    const reach = high - low + USUAL_DEVIATIONS * betweenUnits
    const far = sign > 0 ? high + reach : low - reach
    const { from, to } = longestRun(experiment.values, (value) => sign * (value - far) > 0)
    const mean = experiment.values.subarray(from, to).reduce((sum, value) => sum + value / (to - from), 0)
    const isWarmUp = to - from < PLAIN_START.points || mean < (1 + PLAIN_START.change) * level
    if (to - from < FAR_POINTS || (from === 0 && isWarmUp)) continue
    const where = to === experiment.values.length ? 'The last ' : ''
    const side = sign > 0 ? 'above' : 'below'
    const usual = sign > 0 ? `at most ${short(high)}` : `at least ${short(low)}`
    return `${where}${to - from} consecutive points are far ${side} all of the baseline: ${short(mean)} on average, ${usual} in the baseline. Check these points`
  }
  return undefined
}
