import { normalUpperQuantile, normalUpperTail } from '../../../statistics/normal.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import { studentUpperQuantile, studentUpperTail } from '../../../statistics/student.js'
import type { Direction, MetricSpec, TestOutcome } from '../../series/types.js'
import { centred, dependence } from '../samples/autocorrelation.js'
import { cleanPoints } from '../samples/clean-side.js'
import type { CleanSide } from '../samples/clean-side.js'
import { describeTotals } from './describe-totals.js'
import { isMostlyZero } from '../samples/kind-of-values.js'
import { percent, weighted } from '../samples/metric-tests.js'
import type { CleanSides, Tested } from '../samples/metric-tests.js'
import type { RobustSettings } from '../samples/settings.js'
import { stretchOutcomes } from './stretch-outcomes.js'
import { moreEventsP, rateDifferenceInterval, rateRatioInterval } from './rate-interval.js'
import { testOccurrence } from './test-occurrence.js'
import { countPoints, totalOf } from './total-events.js'
import type { Total } from './total-events.js'

/** How the error is shared between more and fewer events. */
const SHARES: Readonly<Record<Direction, { readonly high: number; readonly low: number }>> = {
  either: { high: 1, low: 0.03 },
  increase: { high: 1, low: 0 },
  decrease: { high: 0, low: 1 },
}
/** This many standard errors above what chance gives, counts are not those of independent events. */
const OVERDISPERSED_ERRORS = 1
/** Up to this ratio of what the sides' points are exposed to, their number of events can be compared by points. */
const MOST_EXPOSURE_RATIO = 1.1
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
  return isRare && widening.factor > 1
    ? testRates(sides, pointsWithEvents(sides, widening, describeTotals(sides, spec)), spec, settings)
    : testRates(sides, allEvents(sides, widening, describeTotals(sides, spec)), spec, settings)
}

/** Where no point has two events, points with one are what was counted: their number varies less than that of events may. */
function isAtMostOne({ control, experiment }: CleanSides): boolean {
  return Math.max(control.sorted.at(-1) ?? 0, experiment.sorted.at(-1) ?? 0) <= 1
}

/** A side with more traffic has more points with events, whatever its rate: then only rates can be compared. */
function isExposedAlike({ control, experiment }: CleanSides): boolean {
  const perPoint = (side: CleanSide): number => totalOf(side).exposure / side.values.length
  const ratio = perPoint(experiment) / perPoint(control)
  return Math.max(ratio, 1 / ratio) <= MOST_EXPOSURE_RATIO
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
  const { control, experiment, dependence: inTime } = countPoints(sides)
  const { inflation: factor, freedom, autocorrelation } = inTime
  return {
    experiment,
    control,
    widening: { factor, freedom, autocorrelation },
    events,
    says: `${totals}; ${experiment.events} points have some, ${control.events} in the baseline`,
    isByPoint: true,
  }
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
  return {
    kind: 'count',
    method: widening.factor > 1 || isByPoint ? 'overdispersed' : 'poisson',
    ...{ estimate, confidenceInterval, level, relative },
    margin,
    cliffsDelta: rankShift(sides.experiment.sorted, sides.control.sorted).cliffsDelta,
    alpha: settings.countAlpha,
    effectiveN: {
      control: sides.control.values.length / widening.factor,
      experiment: sides.experiment.values.length / widening.factor,
    },
    autocorrelation: widening.autocorrelation,
    detectable: null,
    tests: [
      ...rateOutcomes(counted, spec.direction, margin, relative),
      ...rateStretches(sides, spec, settings),
    ],
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
  { control, experiment }: CleanSides,
  { factor, freedom }: Widening,
  { direction }: MetricSpec,
  { countAlpha }: RobustSettings,
): Pick<Tested, 'level' | 'estimate' | 'confidenceInterval' | 'relative'> {
  const [x, y] = [totalOf(experiment), totalOf(control)]
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
  { experiment: x, control: y, widening, says: counted }: Counted,
  direction: Direction,
  margin: number,
  relative: Tested['relative'],
): TestOutcome[] {
  const shares = SHARES[direction]
  const [more, less] = [x.events / x.exposure, y.events / y.exposure]
  const says = less > 0 ? `${counted}, a change of ${percent(more / less - 1)}` : counted
  return (['High', 'Low'] as const).map((side) => {
    const isHigh = side === 'High'
    const [one, other] = isHigh ? [x, y] : [y, x]
    const p = widened(moreEventsP(one, other), widening)
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

interface Widening {
  /** Variance by that of independent events; 1 when chance explains the difference. */
  readonly factor: number
  readonly freedom: number
  readonly autocorrelation: number
}

/** Pearson's dispersion of the counts about their side's rate, times what their dependence in time adds. */
function wideningOf({ control, experiment }: CleanSides): Widening {
  const sides = [control, experiment].map((side) => residuals(side))
  const points = control.values.length + experiment.values.length
  const chi = sides.reduce((sum, { squares }) => sum + squares, 0)
  const dispersion = chi / Math.max(1, points - 2)
  // The variance of one squared residual of a Poisson count with mean u is 2 + 1 / u.
  const inverse = sides.reduce((sum, { inverseMeans }) => sum + inverseMeans, 0)
  const error = Math.sqrt(2 * points + inverse) / points
  const isClustered = dispersion > 1 + OVERDISPERSED_ERRORS * error
  const inTime = dependence(sides.map(({ values, places }) => centred(values, places)))
  return {
    factor: (isClustered ? dispersion : 1) * inTime.inflation,
    freedom: inTime.freedom,
    autocorrelation: inTime.autocorrelation,
  }
}

interface Residuals {
  readonly values: Float64Array
  readonly places: Int32Array
  readonly squares: number
  readonly inverseMeans: number
}

function residuals(side: CleanSide): Residuals {
  const { events, exposure } = totalOf(side)
  const rate = events / exposure
  let [squares, inverseMeans] = [0, 0]
  const values = side.values.map((value, index) => {
    const expected = rate * (side.exposure[index] ?? 1)
    if (!(expected > 0)) return 0
    const residual = (value - expected) / Math.sqrt(expected)
    squares += residual * residual
    inverseMeans += 1 / expected
    return residual
  })
  return { values, places: side.places, squares, inverseMeans }
}

/** Events a point as they would be of one request. */
function ratesOf(sides: CleanSides): CleanSides {
  const rates = (side: CleanSide): CleanSide =>
    cleanPoints({ ...side, values: side.values.map((value, index) => value / (side.exposure[index] ?? 1)) })
  return { control: rates(sides.control), experiment: rates(sides.experiment) }
}
