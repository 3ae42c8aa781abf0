import { percent } from '../../../../lib/text/number-text.js'
import { normalUpperTail, normalUpperQuantile } from '../../../statistics/normal.js'
import { rankShift } from '../../../statistics/rank-sum-tail.js'
import type { Direction, MetricSpec, TestOutcome } from '../../series/types.js'
import { dependence, NO_CHANCE } from '../samples/autocorrelation.js'
import type { CleanSides, Tested } from '../samples/metric-tests.js'
import { weighted } from '../samples/metric-tests.js'
import { describeSeries } from '../../series/describe-series.js'
import { farFrom, marginsOf, ROUNDING } from '../samples/margins.js'
import type { Margins } from '../samples/margins.js'
import { baselineLevel, relativeTo } from '../samples/baseline-level.js'
import { pairSides, testPairs } from './paired-test.js'
import { ERROR_SHARES } from '../samples/settings.js'
import type { RobustSettings } from '../samples/settings.js'
import { testShift } from './shift-test.js'
import type { BoundErrors, Shift } from './shift-test.js'
import { stretchOutcomes } from './stretch-outcomes.js'
import { testSpread } from './spread-test.js'
import { pooledOrder, testTail } from './tail-test.js'
import { sortedQuantile } from '../../../statistics/quantile.js'
import { studentUpperQuantile, studentUpperTail } from '../../../statistics/student.js'

/**
 * Minimum distance between the sides, as a multiple of the wider range, that counts whatever their
 * dependence in time is.
 */
const MIN_GAP_IN_RANGES = 3
/** The same distance for a change far beyond its margin. */
const MIN_GAP_OF_FAR_CHANGE = 1

/**
 * The direction of the experiment if its values and those of the control are far apart. Undefined
 * if some are near.
 */
function farApart({ control, experiment }: CleanSides, minRanges: number): 'above' | 'below' | undefined {
  const [x, y] = [experiment.sorted, control.sorted]
  const [lowX, highX, lowY, highY] = [x[0] ?? 0, x.at(-1) ?? 0, y[0] ?? 0, y.at(-1) ?? 0]
  const near = minRanges * Math.max(highX - lowX, highY - lowY)
  if (lowX - highY > near) return 'above'
  return lowY - highX > near ? 'below' : undefined
}

/** A wider spread matters from this ratio on, if its ends also reach further by the margin. */
const SPREAD_RATIO = 1.5
/**
 * Error of a bound of the confidence interval in a direction that no test covers: a share of alpha
 * for the shift, and an error by itself for the size of a change of the mean.
 */
const USUAL_ERROR = 0.1

interface TestInput {
  readonly sides: CleanSides
  readonly direction: Direction
  readonly level: number
  /** The changes that do not matter, in the metric's unit. */
  readonly allowed: Margins
}

/**
 * Tests measurements for a shift of typical values and of the mean, for points far out, and for a
 * wider spread. Each test gets a share of alpha (`ERROR_SHARES`): `weighted` divides its p by that
 * share, so all p can be compared with alpha.
 */
export function testGauge(sides: CleanSides, spec: MetricSpec, settings: RobustSettings): Tested {
  const level = baselineLevel(sides.control.sorted)
  const margins = marginsOf(spec, settings)
  const allowed = {
    increase: margins.increase * level * ROUNDING,
    decrease: margins.decrease * level * ROUNDING,
  }
  const input = { sides, direction: spec.direction, level, allowed }
  const shares = ERROR_SHARES[spec.direction]
  const errorOf = (share: number): number => settings.alpha * (share > 0 ? share : USUAL_ERROR)
  const errors = { lower: errorOf(shares.shiftHigh), upper: errorOf(shares.shiftLow) }
  const { shift, freedom, ...evidence } = measureShift(input, errors, settings)
  const shifts = shiftOutcomes(shift, input, spec)
  const whole = [
    ...shifts,
    ...(isFound(shifts, settings.alpha) ? [] : meanOutcomes(shift, input, { ...evidence, freedom })),
    ...gapOutcomes(shift, input),
    ...tailOutcomes(input),
    ...spreadOutcomes(input),
  ]
  return {
    kind: 'gauge',
    ...evidence,
    estimate: shift.estimate,
    confidenceInterval: shift.interval,
    level,
    relative: relativeTo(level, shift.estimate, shift.interval),
    margin: margins.increase,
    cliffsDelta: shift.cliffsDelta,
    alpha: settings.alpha,
    detectable: level > 0 ? evidence.detectable / level : null,
    tests: [
      ...whole,
      ...(isFound(whole, settings.alpha) ? [] : stretchOutcomes(sides, spec, settings, true)),
    ],
  }
}

interface Evidence extends Pick<Tested, 'method' | 'effectiveN' | 'autocorrelation'> {
  readonly shift: Shift
  /** The degrees of freedom of the dependence. */
  readonly freedom: number
  /** In the metric's unit. */
  readonly detectable: number
}

/**
 * The shift between pairs of points at one time if the sides move together, otherwise between the
 * sides as they are.
 */
function measureShift(
  { sides, level, allowed }: TestInput,
  errors: BoundErrors,
  { later }: RobustSettings,
): Evidence {
  const { control, experiment } = sides
  const chanceErrors = later === undefined ? undefined : NO_CHANCE
  const pairing = pairSides(sides, level, chanceErrors)
  const depends = pairing?.dependence ?? dependence([control.scores, experiment.scores], chanceErrors)
  const needed = { error: errors.lower, reach: allowed.increase, freedom: depends.freedom }
  const worth = (points: number): number => points / depends.inflation
  if (pairing === undefined) {
    const effectiveN = { control: worth(control.values.length), experiment: worth(experiment.values.length) }
    return {
      method: 'independent',
      shift: testShift(experiment.sorted, control.sorted, depends, errors),
      effectiveN,
      autocorrelation: depends.autocorrelation,
      freedom: depends.freedom,
      detectable: detectableShift(sides, effectiveN, needed),
    }
  }
  const pairs = worth(pairing.differences.length)
  const { cliffsDelta } = rankShift(experiment.sorted, control.sorted)
  return {
    method: 'paired',
    shift: testPairs(pairing, errors, cliffsDelta),
    effectiveN: { control: pairs, experiment: pairs },
    autocorrelation: depends.autocorrelation,
    freedom: depends.freedom,
    detectable: detectableDifference(pairing.differences, pairs, needed),
  }
}

function shiftOutcomes(
  shift: Shift,
  { direction, level, allowed }: TestInput,
  spec: MetricSpec,
): TestOutcome[] {
  const shares = ERROR_SHARES[direction]
  const says = `The typical value changed by ${describeChange(shift.estimate, level)}`
  const superiority = (shift.cliffsDelta + 1) / 2
  const { measure, allowedIncrease, allowedDecrease } = spec.effectSize
  const isRank = measure === 'cles'
  return [
    {
      test: 'shift',
      change: 'High',
      p: weighted(shift.pHigh, shares.shiftHigh),
      matters: shift.estimate > allowed.increase && (!isRank || superiority >= allowedIncrease),
      size: shareOf(shift.interval[0], level),
      says,
    },
    {
      test: 'shift',
      change: 'Low',
      p: weighted(shift.pLow, shares.shiftLow),
      matters: -shift.estimate > allowed.decrease && (!isRank || superiority <= allowedDecrease),
      size: shareOf(-shift.interval[1], level),
      says,
    },
  ]
}

/**
 * A change of the mean that the typical difference of two points does not show, as between values
 * of two kinds (hits and misses of a cache) of which one became more frequent. The ranks must show
 * the change as well as the means (Welch), which adds no error, or the means alone at their own
 * small share.
 */
function meanOutcomes(
  shift: Shift,
  { sides: { control, experiment }, direction, level, allowed }: TestInput,
  { effectiveN, freedom }: Pick<Evidence, 'effectiveN' | 'freedom'>,
): TestOutcome[] {
  const shares = ERROR_SHARES[direction]
  const [x, y] = [describeSeries(experiment.values), describeSeries(control.values)]
  const change = x.mean - y.mean
  const error = Math.hypot(x.std / Math.sqrt(effectiveN.experiment), y.std / Math.sqrt(effectiveN.control))
  const surely = Math.abs(change) - error * studentUpperQuantile(USUAL_ERROR, freedom)
  return ([1, -1] as const).map((sign) => {
    const isHigh = sign > 0
    const p = error > 0 ? studentUpperTail((sign * change) / error, freedom) : 1
    const [share, ofRanks] = isHigh ? [shares.shiftHigh, shift.pHigh] : [shares.shiftLow, shift.pLow]
    return {
      test: 'mean',
      change: isHigh ? 'High' : 'Low',
      p: Math.min(weighted(Math.max(p, ofRanks), share), weighted(p, share > 0 ? shares.mean : 0)),
      matters: sign * change > (isHigh ? allowed.increase : allowed.decrease),
      size: shareOf(surely, level),
      says: `The mean changed by ${describeChange(change, level)}`,
    }
  })
}

/**
 * Sides that are far apart differ even if the points follow each other so closely that few of them
 * count.
 */
function gapOutcomes(shift: Shift, { sides, direction, level, allowed }: TestInput): TestOutcome[] {
  const size = Math.abs(shift.estimate)
  const isFarChange = size >= farFrom(Math.max(allowed.increase, allowed.decrease), level)
  const where = farApart(sides, isFarChange ? MIN_GAP_OF_FAR_CHANGE : MIN_GAP_IN_RANGES)
  if (where === undefined) return []
  const isAbove = where === 'above'
  const ranks = rankShift(sides.experiment.sorted, sides.control.sorted)
  const isHarm = direction === 'either' || (direction === 'increase') === isAbove
  return [
    {
      test: 'gap',
      change: isAbove ? 'High' : 'Low',
      p: normalUpperTail(isAbove ? ranks.above : ranks.below),
      matters: isHarm && size > (isAbove ? allowed.increase : allowed.decrease),
      size: shareOf(size, level),
      says: `All values are far ${where} those of the baseline. The typical value changed by ${describeChange(shift.estimate, level)}`,
    },
  ]
}

function tailOutcomes({ sides, direction, level, allowed }: TestInput): TestOutcome[] {
  const shares = ERROR_SHARES[direction]
  const pooled = pooledOrder(sides)
  return (['high', 'low'] as const).map((end) => {
    const isHigh = end === 'high'
    const reach = isHigh ? allowed.increase : allowed.decrease
    const tail = testTail(sides, pooled, end, reach)
    const where = isHigh ? 'above' : 'below'
    return {
      test: 'tail',
      change: isHigh ? 'High' : 'Low',
      p: weighted(tail.p, isHigh ? shares.tailHigh : shares.tailLow),
      matters: tail.adds > reach,
      size: shareOf(tail.adds, level),
      says: `${tail.experiment} points are far ${where} the others, ${tail.control} in the baseline, which changes the mean by ${describeChange(isHigh ? tail.adds : -tail.adds, level)}`,
    }
  })
}

/**
 * A wider spread is harm in the direction in which its ends reach beyond the baseline's. A narrower
 * one is none.
 */
function spreadOutcomes({ sides, direction, level, allowed }: TestInput): TestOutcome[] {
  const share = ERROR_SHARES[direction].spread
  const { p, control, experiment, above, below } = testSpread(sides)
  const isHigher = direction !== 'decrease' && above > allowed.increase
  const isLower = direction !== 'increase' && below > allowed.decrease
  const end = isHigher
    ? `Their upper end changed by ${describeChange(above, level)}`
    : `Their lower end changed by ${describeChange(-below, level)}`
  const reach = isHigher || isLower ? `. ${end}` : ''
  return [
    {
      test: 'spread',
      change: isHigher ? 'High' : 'Low',
      p: weighted(p, share),
      matters: experiment > SPREAD_RATIO * control && (isHigher || isLower),
      size: shareOf(isHigher ? above : below, level),
      says: `The values spread ${control > 0 ? `${(experiment / control).toFixed(1)} times as wide` : 'where they were constant'}${reach}`,
    },
  ]
}

function describeChange(change: number, level: number): string {
  return level > 0 ? `${percent(change / level)} of the baseline` : String(Number(change.toPrecision(4)))
}

function shareOf(change: number, level: number): number | null {
  return level > 0 ? Math.max(0, change) / level : null
}

/**
 * A stretch is not reported for a change of the whole window, except for a wider spread, which a
 * stretch may explain.
 */
function isFound(tests: readonly TestOutcome[], alpha: number): boolean {
  return tests.some(({ test, matters, p }) => test !== 'spread' && matters && p <= alpha)
}

/** The conditions for an estimate to be found. */
interface Needed {
  /** The chance of a false positive. */
  readonly error: number
  /** The least change that matters, in the metric's unit. */
  readonly reach: number
  /** The degrees of freedom of the test. */
  readonly freedom: number
}

/** Share of runs with the change that find it. */
const POWER = 0.8
const QUARTILES_IN_DEVIATIONS = 1.349

/**
 * The least shift, in the metric's unit, that is found in most runs: Noether's sample size (1987)
 * inverted for a shift of normal values whose deviation comes from the quartiles. An estimate must
 * also exceed `reach`, the change that does not matter.
 */
function detectableShift(
  { control, experiment }: CleanSides,
  effectiveN: { readonly control: number; readonly experiment: number },
  needed: Needed,
): number {
  const deviation = (deviationOf(control.sorted) + deviationOf(experiment.sorted)) / 2
  const n = effectiveN.control
  const m = effectiveN.experiment
  // P(x > y) - 1/2 is the shift by 2 sqrt(pi) deviations, near 0.
  const standardError = Math.sqrt((n + m) / (12 * n * m)) * 2 * Math.sqrt(Math.PI) * deviation
  return leastFound(standardError, needed)
}

/** The least detectable difference for pairs of points. */
function detectableDifference(differences: Float64Array, effectiveN: number, needed: Needed): number {
  return leastFound(deviationOf(differences.toSorted()) / Math.sqrt(effectiveN), needed)
}

function leastFound(standardError: number, { error, reach, freedom }: Needed): number {
  return (
    Math.max(reach, studentUpperQuantile(error, freedom) * standardError) +
    normalUpperQuantile(1 - POWER) * standardError
  )
}

function deviationOf(sorted: Float64Array): number {
  return (sortedQuantile(sorted, 0.75) - sortedQuantile(sorted, 0.25)) / QUARTILES_IN_DEVIATIONS
}
