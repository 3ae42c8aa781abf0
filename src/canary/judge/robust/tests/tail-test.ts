import { fisherExact } from '../../../statistics/fisher-exact.js'
import { normalUpperQuantile } from '../../../statistics/normal.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { studentUpperTail } from '../../../statistics/student.js'
import { centred, dependence, strongest } from '../samples/autocorrelation.js'
import type { CleanSide } from '../samples/clean-side.js'
import type { CleanSides } from '../samples/metric-tests.js'

/** How much more often one side has what is counted. */
export interface MoreOften {
  readonly p: number
  readonly control: number
  readonly experiment: number
}

/** Points far out on one end. */
export interface Tail extends MoreOften {
  /**
   * The additional contribution of these points to the mean of the experiment compared with the
   * control's, in the metric's unit.
   */
  readonly adds: number
  readonly threshold: number
}

/**
 * Distance beyond the quartile, in quartile distances, from which a point is far out: Hoaglin and
 * Iglewicz (1987), who found Tukey's 1.5 too small.
 */
const REACH_BEYOND_QUARTILE = 2.2
/**
 * Maximum ratio of the reach of the bulk to one side of the median and to the other. For very
 * skewed measurements it is five (log-normal with a deviation of 2.4). Beyond it, a quarter of the
 * points are another kind of value and not part of the bulk.
 */
const LONGEST_BULK = 10
/**
 * Standard errors for a dependence of rare events, more than for measurements, since events are
 * few.
 */
export const CHANCE_ERRORS = 2.6
/** Standard errors for one side alone, which is tested in addition. */
const CHANCE_ERRORS_ALONE = 3.5
/**
 * Width of the fence as a share of its value. Points within it are not beyond the fence, so scaling
 * the data cannot move them across.
 */
const FENCE_WIDTH = 1e-9

/**
 * Whether more of the experiment's points lie far above (or below) the bulk of both sides: a shift
 * test misses spikes in few points. The fence comes from both sides together, so without a change
 * the points beyond it belong to either side by chance.
 */
export function testTail(
  { control, experiment }: CleanSides,
  pooled: Float64Array,
  end: 'high' | 'low',
  reach: number,
): Tail {
  const sign = end === 'high' ? 1 : -1
  const [q1, q3] = [sortedQuantile(pooled, 0.25), sortedQuantile(pooled, 0.75)]
  const centre = sign * sortedQuantile(pooled, 0.5)
  const [inner, outer] = end === 'high' ? [centre - q1, q3 - centre] : [q3 + centre, -q1 - centre]
  const bulk = Math.min(outer, LONGEST_BULK * Math.max(inner, reach))
  const fence = centre + Math.max(bulk + REACH_BEYOND_QUARTILE * (inner + bulk), reach)
  const threshold = fence + FENCE_WIDTH * Math.abs(fence)
  const beyond = (value: number): boolean => sign * value > threshold
  const excess = ({ values }: CleanSide): number =>
    values.reduce((sum, value) => sum + (beyond(value) ? sign * value - centre : 0), 0) / values.length
  return {
    ...testMoreOften({ control, experiment }, beyond),
    adds: excess(experiment) - excess(control),
    threshold: sign * threshold,
  }
}

/** The values of both sides in ascending order. */
export function pooledOrder({ control, experiment }: CleanSides): Float64Array {
  const [x, y] = [experiment.sorted, control.sorted]
  const pooled = new Float64Array(x.length + y.length)
  let [inX, inY] = [0, 0]
  for (let index = 0; index < pooled.length; index += 1) {
    const isX = (x[inX] ?? Infinity) < (y[inY] ?? Infinity)
    pooled[index] = (isX ? x[inX++] : y[inY++]) ?? Infinity
  }
  return pooled
}

/**
 * Fisher's exact test (mid-p) of whether more of the experiment's points are of one kind.
 * Consecutive points of that kind count less, by their autocorrelation. With `areAmounts`, the
 * autocorrelation of the values is used: bursts among single events show by their size.
 */
export function testMoreOften(
  { control, experiment }: CleanSides,
  isOfKind: (value: number) => boolean,
  areAmounts = false,
): MoreOften {
  const marks = [control, experiment].map(({ values, places }) => ({
    values: values.map((value) => (isOfKind(value) ? 1 : 0)),
    places,
  }))
  const [inControl = 0, inExperiment = 0] = marks.map(({ values }) =>
    values.reduce((sum, value) => sum + value, 0),
  )
  const p = moreOftenP(inExperiment, experiment.values.length, inControl, control.values.length)
  const counts = { control: inControl, experiment: inExperiment }
  if (p >= 0.5) return { p, ...counts }
  const series = marks.map(({ values, places }) => centred(values, places))
  // Bursts that only one side has are not as many events as they are points.
  const amounts = areAmounts ? [control, experiment].map(({ values, places }) => centred(values, places)) : []
  const { inflation, freedom } = strongest(
    dependence(series, CHANCE_ERRORS),
    ...[...series, ...amounts].map((side) => dependence([side], CHANCE_ERRORS_ALONE)),
  )
  const deflated =
    inflation > 1 ? studentUpperTail(normalUpperQuantile(p) / Math.sqrt(inflation), freedom) : p
  return { p: deflated, ...counts }
}

function moreOftenP(canaryEvents: number, canary: number, baselineEvents: number, baseline: number): number {
  if (canaryEvents + baselineEvents === 0) return 1
  const { greater, less } = fisherExact({
    canaryEvents,
    canaryOthers: canary - canaryEvents,
    baselineEvents,
    baselineOthers: baseline - baselineEvents,
  })
  return greater - (greater + less - 1) / 2
}
