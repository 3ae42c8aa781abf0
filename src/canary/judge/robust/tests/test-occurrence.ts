import { percent } from '../../../../lib/text/number-text.js'
import { normalUpperQuantile } from '../../../statistics/normal.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import { studentUpperTail } from '../../../statistics/student.js'
import type { Direction, MetricSpec, TestOutcome } from '../../series/types.js'
import { centredScores, dependence, strongest } from '../samples/autocorrelation.js'
import type { CleanSide } from '../samples/clean-side.js'
import { weighted } from '../samples/metric-tests.js'
import type { CleanSides, Tested } from '../samples/metric-tests.js'
import type { RobustSettings } from '../samples/settings.js'
import { stretchOutcomes } from './stretch-outcomes.js'
import { testMoreOften } from './tail-test.js'

interface Shares {
  readonly oftenHigh: number
  readonly oftenLow: number
  readonly sizeHigh: number
  readonly sizeLow: number
}

/** As `ERROR_SHARES`, for values that are mostly 0. */
const SHARES: Readonly<Record<Direction, Shares>> = {
  either: { oftenHigh: 1, oftenLow: 0.03, sizeHigh: 0.06, sizeLow: 0.01 },
  increase: { oftenHigh: 1, oftenLow: 0, sizeHigh: 0.06, sizeLow: 0 },
  decrease: { oftenHigh: 0, oftenLow: 1, sizeHigh: 0, sizeLow: 0.06 },
}
/** How much more often matters: by a quarter, and in one point of a hundred. */
const MIN_RATIO = 1.25
const MIN_SHARE = 0.01
/** Fewer values than this on a side say nothing of their size. */
const MIN_SIZES = 5

/** The wording for counted events: their error and their number. */
export interface CountedEvents {
  readonly alpha: number
  readonly totals: string
}

/** Tests values that are mostly 0: the share of other points, and their size. */
export function testOccurrence(
  sides: CleanSides,
  spec: MetricSpec,
  settings: RobustSettings,
  counted?: CountedEvents,
): Tested {
  const { alpha } = counted ?? settings
  const { control, experiment } = sides
  const together = dependence([control.scores, experiment.scores])
  const [n, m] = [experiment.values.length / together.inflation, control.values.length / together.inflation]
  const [more, less] = [shareNotZero(experiment), shareNotZero(control)]
  const shares = SHARES[spec.direction]
  const interval = differenceInterval(more, n, less, m, alpha * Math.max(shares.oftenHigh, shares.oftenLow))
  const margin = spec.margin ?? settings.margin
  return {
    kind: 'zeroInflated',
    method: 'occurrence',
    estimate: more - less,
    confidenceInterval: interval,
    level: less,
    relative:
      less > 0 ? { estimate: more / less - 1, interval: [interval[0] / less, interval[1] / less] } : null,
    margin,
    cliffsDelta: rankShift(experiment.sorted, control.sorted).cliffsDelta,
    alpha,
    effectiveN: { control: m, experiment: n },
    autocorrelation: together.autocorrelation,
    detectable: null,
    tests: [
      ...oftenOutcomes(sides, shares, interval, counted),
      ...sizeOutcomes(sides, shares, margin),
      ...stretchOutcomes(sides, spec, settings, false),
    ],
  }
}

function oftenOutcomes(
  { control, experiment }: CleanSides,
  shares: Shares,
  [lower, upper]: readonly [number, number],
  counted: CountedEvents | undefined,
): TestOutcome[] {
  const isNotZero = (value: number): boolean => value !== 0
  const high = testMoreOften({ control, experiment }, isNotZero, counted !== undefined)
  const low = testMoreOften({ control: experiment, experiment: control }, isNotZero, counted !== undefined)
  const [more, less] = [shareNotZero(experiment), shareNotZero(control)]
  const [often, seldom] = [more, less].map((share) => percent(share).replace('+', ''))
  const says =
    counted === undefined
      ? `${often} of the points are not 0, ${seldom} in the baseline`
      : `${counted.totals}. ${often} of the points have events, ${seldom} in the baseline`
  return [
    {
      test: 'occurrence',
      change: 'High',
      p: weighted(high.p, shares.oftenHigh),
      matters: isMoreOften(more, less),
      size: less > 0 ? Math.max(0, lower) / less : null,
      says,
    },
    {
      test: 'occurrence',
      change: 'Low',
      p: weighted(low.p, shares.oftenLow),
      matters: isMoreOften(less, more),
      size: less > 0 ? Math.max(0, -upper) / less : 0,
      says,
    },
  ]
}

function isMoreOften(more: number, less: number): boolean {
  return more >= MIN_RATIO * less && more - less >= MIN_SHARE
}

function sizeOutcomes({ control, experiment }: CleanSides, shares: Shares, margin: number): TestOutcome[] {
  const [now, before] = [experiment, control].map(notZero)
  if (now === undefined || before === undefined) return []
  const [x, y] = [now.values.toSorted(), before.values.toSorted()]
  if (Math.min(x.length, y.length) < MIN_SIZES) return []
  const { above, below } = rankShift(x, y)
  // Events of one burst have the same size.
  const scores = [before, now].map(({ values, places }) => centredScores(values, places))
  const { inflation, freedom } = strongest(dependence(scores), ...scores.map((side) => dependence([side])))
  const usual = sortedQuantile(y, 0.5)
  const change = (sortedQuantile(x, 0.5) - usual) / Math.abs(usual)
  const says = `The typical value of the points that are not 0 changed by ${percent(change)}`
  return [
    {
      test: 'size',
      change: 'High',
      p: weighted(studentUpperTail(above / Math.sqrt(inflation), freedom), shares.sizeHigh),
      matters: change > margin,
      size: Math.max(0, change),
      says,
    },
    {
      test: 'size',
      change: 'Low',
      p: weighted(studentUpperTail(below / Math.sqrt(inflation), freedom), shares.sizeLow),
      matters: -change > margin,
      size: Math.max(0, -change),
      says,
    },
  ]
}

function notZero({ values, places }: CleanSide): Pick<CleanSide, 'values' | 'places'> {
  const isKept = (_: unknown, index: number): boolean => values[index] !== 0
  return { values: values.filter(isKept), places: places.filter(isKept) }
}

function shareNotZero({ values }: CleanSide): number {
  return values.reduce((sum, value) => sum + (value === 0 ? 0 : 1), 0) / values.length
}

/**
 * The confidence interval of the difference of two shares by Newcombe's method 10 (1998), which
 * combines Wilson's intervals.
 */
function differenceInterval(
  first: number,
  n: number,
  second: number,
  m: number,
  error: number,
): readonly [number, number] {
  const z = normalUpperQuantile(error)
  const [one, two] = [wilson(first, n, z), wilson(second, m, z)]
  const difference = first - second
  return [
    difference - Math.hypot(first - one[0], two[1] - second),
    difference + Math.hypot(one[1] - first, second - two[0]),
  ]
}

function wilson(share: number, n: number, z: number): readonly [number, number] {
  const centre = share + (z * z) / (2 * n)
  const reach = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))
  const scale = 1 + (z * z) / n
  return [(centre - reach) / scale, (centre + reach) / scale]
}
