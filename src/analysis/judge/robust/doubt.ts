import type { MetricSeries } from '../series/types.js'
import type { NoData } from './find-no-data.js'
import { describeTotals } from './tests/describe-totals.js'
import { kindOfValues } from './samples/kind-of-values.js'
import type { CleanSides } from './samples/metric-tests.js'
import { outageOf } from './outage.js'
import { totalOf } from './tests/total-events.js'

/** So many points at the end without a value, and this share of all, are no late data any more. */
const SILENT_POINTS = 5
const SILENT_SHARE = 0.1
/** So much of the silence the control must have values for: sparse series are silent on both sides. */
const HEARD_SHARE = 0.9
/** From here on a burst is worth a look: what one error in a few minutes may grow to by chance stays below. */
const BURST_RATIO = 4
const BURST_EVENTS = 20

/**
 * Why a metric in which no test found a change does not pass all the same: the canary has fallen silent or to 0, or many more
 * events came in a burst, which counts as one. Undefined when nothing of that is so.
 */
export function doubtOf(metric: MetricSeries, sides: CleanSides): NoData | undefined {
  const reason = silenceOf(metric) ?? burstOf(metric, sides) ?? fallToZero(metric)
  return reason === undefined ? undefined : { state: 'tooFewPoints', reason }
}

function silenceOf({ spec, control, experiment }: MetricSeries): string | undefined {
  const points = experiment.values.length
  // Where gaps are zeros, or the sides are not of the same steps, a gap at the end says nothing.
  if (spec.nanStrategy === 'replace' || control.values.length !== points) return undefined
  const last = experiment.values.findLastIndex((value) => !Number.isNaN(value))
  const silent = points - 1 - last
  if (silent < Math.max(SILENT_POINTS, points * SILENT_SHARE)) return undefined
  const heard = control.values.subarray(last + 1).filter((value) => !Number.isNaN(value)).length
  if (heard < silent * HEARD_SHARE) return undefined
  return `the canary has no value in the last ${silent} of ${points} points, where the baseline has: see whether the canary still runs`
}

/** Where only a rise is harm, 0 is what one hopes for. */
function fallToZero(metric: MetricSeries): string | undefined {
  const outage = metric.spec.direction === 'increase' ? undefined : outageOf(metric)
  return outage?.isLast === true ? outage.reason : undefined
}

function burstOf({ spec }: MetricSeries, sides: CleanSides): string | undefined {
  if (spec.direction === 'decrease' || kindOfValues(sides, spec.kind) !== 'count') return undefined
  const [x, y] = [totalOf(sides.experiment), totalOf(sides.control)]
  const expected = (y.events * x.exposure) / y.exposure
  if (x.events < expected * BURST_RATIO || x.events < expected + BURST_EVENTS) return undefined
  return `${describeTotals(sides, spec)}, but in bursts that count as few: see what they are`
}
