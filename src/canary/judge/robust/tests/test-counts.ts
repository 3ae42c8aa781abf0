import { percent } from '../../../../lib/text/number-text.js'
import { normalUpperQuantile, normalUpperTail } from '../../../statistics/normal.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import { studentUpperQuantile, studentUpperTail } from '../../../statistics/student.js'
import type { Direction, MetricSpec, TestOutcome } from '../../series/types.js'
import { cleanPoints } from '../samples/clean-side.js'
import type { CleanSide } from '../samples/clean-side.js'
import { describeTotals } from './describe-totals.js'
import { isMostlyZero } from '../samples/kind-of-values.js'
import { weighted } from '../samples/metric-tests.js'
import type { CleanSides, Tested } from '../samples/metric-tests.js'
import type { RobustSettings } from '../samples/settings.js'
import { stretchOutcomes } from './stretch-outcomes.js'
import { moreEventsP, rateDifferenceInterval, rateRatioInterval, wideningOf } from './rate-variance.js'
import type { Widening } from './rate-variance.js'
import { testOccurrence } from './test-occurrence.js'
import { countPoints, thinnedPoints, totalOf } from './total-events.js'
import type { CountedPoints, Total } from './total-events.js'

interface Shares {
  readonly high: number
  readonly low: number
}

/** How the error is shared between more and fewer events. */
const SHARES: Readonly<Record<Direction, Shares>> = {
  either: { high: 1, low: 0.03 },
  increase: { high: 1, low: 0 },
  decrease: { high: 0, low: 1 },
}
/**
 * Share of the error that is spent if the error is estimated from clusters or from sides with
 * different traffic.
 */
const ESTIMATED_SHARE = 0.7
/** Maximum ratio of the sides' exposures for comparing the number of points with events. */
const MAX_EXPOSURE_RATIO = 1.1
/**
 * Shift for which the mean root of a count is nearly the root of its mean, from about one event per
 * point on.
 */
const ROOT_SHIFT = 1 / 4

/**
 * Tests counts of events against their exposure. Given the sum, the experiment's share of
 * independent events is binomial (exact, mid-p). Clustered events are not independent. If most
 * points have none, the points with events are counted instead; otherwise the clusters widen the
 * test.
 */
export function testCounts(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): Tested {
  const widening = wideningOf(sides)
  const isRare = isMostlyZero(sides.control) || isMostlyZero(sides.experiment)
  const isByPoint = widening.factor > 1 || isAtMostOne(sides)
  if (isRare && isByPoint && isExposedAlike(sides)) {
    const counted = { alpha: settings.countAlpha, totals: describeTotals(sides, spec) }
    const { relative } = estimateRates(sides, widening, spec, settings)
    return { ...testOccurrence(sides, spec, settings, counted), relative }
  }
  const counted = isRare && widening.factor > 1 ? pointsWithEvents : allEvents
  return testRates(sides, counted(sides, widening, describeTotals(sides, spec)), spec, settings)
}

/** Which part of the error each direction has. */
function sharesOf(sides: CleanSides, { factor }: Widening, direction: Direction): Shares {
  const { high, low } = SHARES[direction]
  const share = factor > 1 || !isExposedAlike(sides) ? ESTIMATED_SHARE : 1
  return { high: share * high, low: share * low }
}

/**
 * If no point has two events, the points with one were counted: their number varies less than that
 * of events may.
 */
function isAtMostOne({ control, experiment }: CleanSides): boolean {
  return Math.max(control.sorted.at(-1) ?? 0, experiment.sorted.at(-1) ?? 0) <= 1
}

/**
 * A side with more traffic has more points with events, whatever its rate. Only rates can be
 * compared then.
 */
function isExposedAlike({ control, experiment }: CleanSides): boolean {
  const perPoint = (side: CleanSide): number => totalOf(side).exposure / side.values.length
  const ratio = perPoint(experiment) / perPoint(control)
  return Math.max(ratio, 1 / ratio) <= MAX_EXPOSURE_RATIO
}

/** The counts of each side, and their variance relative to independent events. */
interface Counted {
  readonly experiment: Total
  readonly control: Total
  readonly widening: Widening
  /** By how much all events vary more. */
  readonly events: Widening
  /** The counts of both sides, as a sentence. */
  readonly says: string
  readonly isByPoint: boolean
  /**
   * For sides with different exposures: points with events at the same exposure, which must not
   * differ beyond chance.
   */
  readonly atOneExposure?: Pick<Counted, 'experiment' | 'control' | 'widening'>
}

function allEvents({ control, experiment }: CleanSides, widening: Widening, says: string): Counted {
  return {
    experiment: totalOf(experiment),
    control: totalOf(control),
    widening,
    events: widening,
    says,
    isByPoint: false,
  }
}

function pointsWithEvents(sides: CleanSides, events: Widening, totals: string): Counted {
  const { experiment, control, ...points } = pointsOf(countPoints(sides))
  return {
    ...{ experiment, control, ...points, events },
    says: `${totals}. ${experiment.events} points have events, ${control.events} in the baseline`,
    isByPoint: true,
    atOneExposure: pointsOf(thinnedPoints(sides)),
  }
}

function pointsOf({
  experiment,
  control,
  dependence: inTime,
}: CountedPoints): Pick<Counted, 'experiment' | 'control' | 'widening'> {
  return { experiment, control, widening: { factor: inTime.inflation, freedom: inTime.freedom, inTime } }
}

function testRates(sides: CleanSides, counted: Counted, spec: MetricSpec, settings: RobustSettings): Tested {
  const { widening, isByPoint } = counted
  const { level, estimate, confidenceInterval, relative } = estimateRates(
    sides,
    counted.events,
    spec,
    settings,
  )
  const margin = spec.margin ?? settings.margin
  const shares = sharesOf(sides, counted.events, spec.direction)
  return {
    kind: 'count',
    method: widening.factor > 1 || isByPoint ? 'overdispersed' : 'poisson',
    ...{ estimate, confidenceInterval, level, relative },
    margin,
    cliffsDelta: rankShift(sides.experiment.sorted, sides.control.sorted).cliffsDelta,
    alpha: settings.countAlpha,
    effectiveN: {
      control: sides.control.values.length / widening.inTime.inflation,
      experiment: sides.experiment.values.length / widening.inTime.inflation,
    },
    autocorrelation: widening.inTime.autocorrelation,
    detectable: null,
    tests: [...rateOutcomes(counted, shares, margin, relative), ...rateStretches(sides, spec, settings)],
  }
}

/**
 * Rates of points on a side with less traffic vary more, so stretches are scored by a value with
 * equal variance on both sides.
 */
function rateStretches(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): TestOutcome[] {
  const isAlike = isExposedAlike(sides)
  const isRare = isMostlyZero(sides.control) || isMostlyZero(sides.experiment)
  if (!isAlike && isRare) return []
  return stretchOutcomes(ratesOf(sides), spec, settings, false, isAlike ? undefined : steadiedSides(sides))
}

/**
 * The distance of the roots of counts from the roots expected from both sides together. Their
 * variance does not depend on the exposure (Brown and others 2001).
 */
function steadiedSides({ control, experiment }: CleanSides): CleanSides {
  const [x, y] = [totalOf(experiment), totalOf(control)]
  const rate = (x.events + y.events) / (x.exposure + y.exposure)
  const steadied = (side: CleanSide): CleanSide => {
    const distance = (value: number, index: number): number =>
      Math.sqrt(value + ROOT_SHIFT) - Math.sqrt(rate * (side.exposure[index] ?? 1))
    return cleanPoints({ ...side, values: side.values.map(distance) })
  }
  return { control: steadied(control), experiment: steadied(experiment) }
}

/**
 * The difference between the rates of all events, with the uncertainty of their clusters. It is as
 * wide as the test of all events even if points with events are tested, since a point does not show
 * its number of events.
 */
function estimateRates(
  sides: CleanSides,
  widening: Widening,
  { direction }: MetricSpec,
  { countAlpha }: RobustSettings,
): Pick<Tested, 'level' | 'estimate' | 'confidenceInterval' | 'relative'> {
  const [x, y] = [totalOf(sides.experiment), totalOf(sides.control)]
  const { factor, freedom } = widening
  // The test uses a smaller error for estimates; the interval matches the test.
  const { high, low } = SHARES[direction]
  const error = countAlpha * Math.max(high, low)
  const z = studentUpperQuantile(error, freedom)
  const level = y.events / y.exposure
  const estimate = x.events / x.exposure - level
  const widened = factor > 1 ? normalUpperTail(z * Math.sqrt(factor)) : error
  const [least, most] = rateRatioInterval(x, y, widened)
  return {
    ...{ level, estimate, confidenceInterval: rateDifferenceInterval(x, y, z, factor) },
    relative:
      level > 0 && Number.isFinite(most)
        ? { estimate: estimate / level, interval: [least - 1, most - 1] }
        : null,
  }
}

function rateOutcomes(
  { experiment: x, control: y, widening, says: counted, atOneExposure: points }: Counted,
  shares: Shares,
  margin: number,
  relative: Tested['relative'],
): TestOutcome[] {
  const [more, less] = [x.events / x.exposure, y.events / y.exposure]
  const says = relative === null ? counted : `${counted}, a change of ${percent(relative.estimate)}`
  return (['High', 'Low'] as const).map((side) => {
    const isHigh = side === 'High'
    const moreP = (now: Total, before: Total, of: Widening): number =>
      widened(isHigh ? moreEventsP(now, before) : moreEventsP(before, now), of)
    // Clusters may come with the traffic or with the time: both must find it.
    const inTime = points === undefined ? 0 : moreP(points.experiment, points.control, points.widening)
    // A widened exact test of independent events treats the rate of both sides as known and
    // overstates large differences.
    const { error = 0, freedom } = widening
    const byError = error > 0 ? studentUpperTail((isHigh ? more - less : less - more) / error, freedom) : 0
    const p = Math.max(moreP(x, y, widening), inTime, byError)
    return {
      test: 'rate',
      change: side,
      p: weighted(p, isHigh ? shares.high : shares.low),
      matters: (isHigh ? more - less : less - more) > margin * less,
      size: relative && Math.max(0, isHigh ? relative.interval[0] : -relative.interval[1]),
      says,
    }
  })
}

function widened(p: number, { factor, freedom }: Widening): number {
  return factor > 1 && p < 0.5 ? studentUpperTail(normalUpperQuantile(p) / Math.sqrt(factor), freedom) : p
}

/** Events per point, scaled to one request. */
function ratesOf(sides: CleanSides): CleanSides {
  const rates = (side: CleanSide): CleanSide =>
    cleanPoints({ ...side, values: side.values.map((value, index) => value / (side.exposure[index] ?? 1)) })
  return { control: rates(sides.control), experiment: rates(sides.experiment) }
}
