import { percent } from '../../../../lib/text/figures.js'
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
/** Of an error that is estimated, of clusters or of sides with other traffic, so much is spent. */
const ESTIMATED_SHARE = 0.7
/** Up to this ratio of what the sides' points are exposed to, their number of events can be compared by points. */
const MAX_EXPOSURE_RATIO = 1.1
/** By which the mean root of a count is nearly the root of its mean, from about one event a point on. */
const ROOT_SHIFT = 1 / 4

/**
 * Tests events counted against what they are counted out of: given their sum, the experiment's share of independent events is
 * binomial (exact, mid-p). Events that come in clusters are no independent ones: where most points have none, the points with some
 * are counted instead; elsewhere the clusters widen the test.
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

/** Where no point has two events, points with one are what was counted: their number varies less than that of events may. */
function isAtMostOne({ control, experiment }: CleanSides): boolean {
  return Math.max(control.sorted.at(-1) ?? 0, experiment.sorted.at(-1) ?? 0) <= 1
}

/** A side with more traffic has more points with events, whatever its rate: then only rates can be compared. */
function isExposedAlike({ control, experiment }: CleanSides): boolean {
  const perPoint = (side: CleanSide): number => totalOf(side).exposure / side.values.length
  const ratio = perPoint(experiment) / perPoint(control)
  return Math.max(ratio, 1 / ratio) <= MAX_EXPOSURE_RATIO
}

/** What was counted on each side, and by how much it varies more than independent events. */
interface Counted {
  readonly experiment: Total
  readonly control: Total
  readonly widening: Widening
  /** By how much all events vary more. */
  readonly events: Widening
  /** What was counted on both sides, as a sentence. */
  readonly says: string
  readonly isByPoint: boolean
  /** Where the sides are exposed otherwise: points with events at one exposure, of which neither side may have more by chance alone. */
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
    says: `${totals}; ${experiment.events} points have some, ${control.events} in the baseline`,
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

/** Points of a side with less traffic have rates that vary more: stretches are told apart by what varies alike on both sides. */
function rateStretches(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): TestOutcome[] {
  const isAlike = isExposedAlike(sides)
  const isRare = isMostlyZero(sides.control) || isMostlyZero(sides.experiment)
  if (!isAlike && isRare) return []
  return stretchOutcomes(ratesOf(sides), spec, settings, false, isAlike ? undefined : steadiedSides(sides))
}

/** How far the roots of counts are from those of what both sides together let expect: they vary alike whatever the exposure (Brown and others 2001). */
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
 * How much the rates of all events differ, as uncertain as their clusters make them. In that they are as wide as the test of all
 * events, also where the points with some are what is tested: a point says nothing of how many it has.
 */
function estimateRates(
  sides: CleanSides,
  widening: Widening,
  { direction }: MetricSpec,
  { countAlpha }: RobustSettings,
): Pick<Tested, 'level' | 'estimate' | 'confidenceInterval' | 'relative'> {
  const [x, y] = [totalOf(sides.experiment), totalOf(sides.control)]
  const { factor, freedom } = widening
  // The test errs less where it estimates; the interval holds what it says.
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
    // An exact test of independent events, widened, takes the rate of both for known: where they are far apart it says too much.
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

/** Events a point as they would be of one request. */
function ratesOf(sides: CleanSides): CleanSides {
  const rates = (side: CleanSide): CleanSide =>
    cleanPoints({ ...side, values: side.values.map((value, index) => value / (side.exposure[index] ?? 1)) })
  return { control: rates(sides.control), experiment: rates(sides.experiment) }
}
