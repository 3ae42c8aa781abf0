import { percent, short } from '../../../lib/text/number-text.js'
import { chiSquareQuantile, kruskalWallis } from '../../statistics/kruskal-wallis.js'
import { normalUpperTail } from '../../statistics/normal.js'
import { sortedQuantile } from '../../statistics/quantile.js'
import { rankShift } from '../../statistics/rank-sum-tail.js'
import { studentUpperQuantile, studentUpperTail } from '../../statistics/student.js'
import type { Finding, MetricSeries, MetricSpec, Side, TestOutcome, UsualSpread } from '../series/types.js'
import { unitLevels } from '../series/units.js'
import { relativeTo } from './samples/baseline-level.js'
import type { NoData } from './find-no-data.js'
import { marginsOf } from './samples/margins.js'
import { harmfulSigns, weighted } from './samples/metric-tests.js'
import type { Tested } from './samples/metric-tests.js'
import { ERROR_SHARES } from './samples/settings.js'
import type { RobustSettings } from './samples/settings.js'

/** Minimum number of former runs for an estimate of the usual spread. */
export const MIN_RUNS = 5
/** Efficiency of a median of deviations compared with a standard deviation, for normal values. */
const MEDIAN_EFFICIENCY = 0.37
/** Tests of the level. Other tests are about movements, which units share. */
const OF_LEVELS: readonly TestOutcome['test'][] = [
  'shift',
  'mean',
  'rate',
  'size',
  'occurrence',
  'gap',
  'tail',
]

/** The part of the error that units have for how widely their values are spread, either way. */
const SPREAD_SHARE = 0.1

/**
 * The distance between the levels of both sides, and the part of it that chance between units or
 * runs explains.
 */
interface LevelDifference {
  readonly estimate: number
  readonly error: number
  readonly freedom: number
  readonly about: NonNullable<Finding['units']>
}

/**
 * Widens the findings of a metric by the differences between its units (pods), or between former
 * runs without a change. A change of the level is found only if both the points and the units show
 * it, and its confidence interval covers both. The same holds for a change of the spread, which
 * each unit shows too, above all if it grows with the level.
 */
export function widenByUnits(
  tested: Tested,
  { spec, control, experiment, usualSpread }: MetricSeries,
): Tested {
  if (tested.distanceFrom !== undefined) return tested
  if (control.areTimes === true && areAlike(control.units ?? [], tested)) return tested
  const [before, now] = [control, experiment].map(({ units, values }) => unitLevels(units ?? [values]))
  const difference = ofUnits(before ?? [], now ?? []) ?? ofRuns(tested, usualSpread)
  if (difference === undefined) return tested
  const [spreadBefore, spreadNow] = [control, experiment].map(({ units, values }) =>
    unitSpreads(units ?? [values]),
  )
  const about = { ...difference.about, ...(control.areTimes === true && { areTimes: true as const }) }
  return widened(tested, spec, {
    level: { ...difference, about },
    logarithm: ofUnits(logarithms(before ?? []), logarithms(now ?? [])),
    spread: ofUnits(spreadBefore ?? [], spreadNow ?? []),
  })
}

/**
 * A change as the units show it: by their levels, by the logarithms of the levels (for units that
 * differ by factors), and by the spread of each unit.
 */
interface BetweenUnits {
  readonly level: LevelDifference
  readonly logarithm: LevelDifference | undefined
  readonly spread: LevelDifference | undefined
}

function widened(
  tested: Tested,
  { direction }: MetricSpec,
  { level, logarithm, spread }: BetweenUnits,
): Tested {
  const { estimate, error, freedom, about } = level
  const shares = ERROR_SHARES[direction]
  const tests = tested.tests.map((outcome) => {
    if (outcome.test === 'spread' && spread !== undefined) return { ...outcome, p: spreadP(outcome, spread) }
    if (!OF_LEVELS.includes(outcome.test)) return outcome
    const isHigh = outcome.change === 'High'
    const p = Math.max(...[level, logarithm ?? level].map((each) => tailOf(each, isHigh ? 1 : -1)))
    return { ...outcome, p: Math.max(outcome.p, weighted(p, isHigh ? shares.shiftHigh : shares.shiftLow)) }
  })
  const reach = error > 0 ? studentUpperQuantile(Math.min(0.5, tested.alpha), freedom) * error : 0
  const [lower, upper] = tested.confidenceInterval
  const interval = [Math.min(lower, estimate - reach), Math.max(upper, estimate + reach)] as const
  const detectable =
    tested.detectable === null || tested.level <= 0
      ? null
      : Math.max(tested.detectable, (reach + studentUpperQuantile(0.2, freedom) * error) / tested.level)
  const relative = tested.relative && relativeTo(tested.level, tested.estimate, interval)
  return { ...tested, tests, confidenceInterval: interval, relative, detectable, units: about }
}

/** The normal deviate of an error of a quarter. */
const ALIKE_DEVIATE = 0.674

/**
 * Whether times of one service differ by no more than their points do. They then count as one
 * baseline. The error is a quarter, as Bancroft (1964) recommends for a test before pooling: times
 * that differ are rarely missed.
 */
function areAlike(times: readonly Float64Array[], { autocorrelation }: Tested): boolean {
  const known = times
    .map((values) => values.filter((value) => !Number.isNaN(value)))
    .filter(({ length }) => length > 0)
  if (known.length < 2) return true
  const r = Math.max(0, autocorrelation)
  return kruskalWallis(known, (1 + r) / (1 - r)) <= chiSquareQuantile(known.length - 1, ALIKE_DEVIATE)
}

/** A spread is wider or narrower, whichever end reaches further. */
function spreadP({ p }: TestOutcome, spread: LevelDifference): number {
  return Math.max(p, weighted(tailOf(spread, spread.estimate > 0 ? 1 : -1), SPREAD_SHARE))
}

function tailOf({ estimate, error, freedom }: LevelDifference, sign: 1 | -1): number {
  return upperTail(sign * estimate, error, freedom)
}

/** Logarithms of levels that are all above 0; empty otherwise. */
function logarithms(levels: readonly number[]): readonly number[] {
  return levels.every((level) => level > 0) ? levels.map(Math.log) : []
}

/**
 * The spread of the values of each unit as a logarithm, since spreads differ by factors. Constant
 * units are left out.
 */
function unitSpreads(units: readonly Float64Array[]): readonly number[] {
  return units.flatMap((unit) => {
    const sorted = unit.filter((value) => !Number.isNaN(value)).sort()
    const median = sortedQuantile(sorted, 0.5)
    const spread = mean(Array.from(sorted, (value) => Math.abs(value - median)))
    return spread > 0 ? [Math.log(spread)] : []
  })
}

/**
 * Welch's test of the levels of units. A side with one unit is assumed to vary as the other side
 * does. Undefined if no side has two units.
 */
function ofUnits(before: readonly number[], now: readonly number[]): LevelDifference | undefined {
  const [k, m] = [before.length, now.length]
  if (k === 0 || m === 0 || k + m < 3) return undefined
  const [own, other] = [varianceOf(before), varianceOf(now)]
  const [a, b] = [(own ?? other ?? 0) / k, (other ?? own ?? 0) / m]
  const freedom =
    own === undefined || other === undefined || a + b === 0
      ? Math.max(k, m) - 1
      : (a + b) ** 2 / (a ** 2 / (k - 1) + b ** 2 / (m - 1))
  const about = {
    control: k,
    experiment: m,
    deviation: Math.sqrt(((own ?? other ?? 0) + (other ?? own ?? 0)) / 2),
  }
  return { estimate: mean(now) - mean(before), error: Math.sqrt(a + b), freedom, about }
}

/** The chance that a run without a change reports a unit as unlike the others. */
const UNLIKE_ERROR = 0.002
/** Minimum number of baseline units for an estimate of the usual differences. */
const MIN_UNITS = 3
const UNLIKE_MARGINS = 2

/**
 * Finds a unit of the canary that is far from all units of the baseline although the mean is not,
 * such as one slow pod of ten; it needs a review. Compares its level and the ranks of its
 * points: units without errors are alike, so one error alone would make a unit look far away.
 */
export function unlikeOthers(
  { spec, control, experiment }: MetricSeries,
  settings: Pick<RobustSettings, 'margin'>,
): NoData | undefined {
  const [others = [], units = []] = [control, experiment].map(knownUnits)
  const [before, now] = [unitLevels(others), unitLevels(units)]
  if (before.length < MIN_UNITS || now.length < 2) return undefined
  const level = mean(before)
  const margins = marginsOf(spec, settings)
  for (const sign of harmfulSigns(spec.direction)) {
    const distances = now.map((each) => sign * (each - level))
    const furthest = Math.max(...distances)
    const reach = UNLIKE_MARGINS * (sign > 0 ? margins.increase : margins.decrease) * Math.abs(level)
    if (furthest <= reach) continue
    const place = distances.indexOf(furthest)
    const byPoints = tailOfPoints(units[place], others, sign)
    const p = Math.max(tailOfLevel(now[place] ?? level, before, sign), byPoints) * now.length
    if (p > UNLIKE_ERROR) continue
    const change = sign * furthest
    const by = level === 0 ? short(change) : `${percent(change / Math.abs(level))} of their mean`
    const reason = `One of ${now.length} units of the canary differs from all units of the baseline by ${by}. Check this unit`
    return { state: 'doubtful', reason }
  }
  return undefined
}

/**
 * Student's test of one more value. For positive values the logarithms are tested too, and the
 * larger p-value counts: traffic of pods differs by factors.
 */
function tailOfLevel(one: number, others: readonly number[], sign: 1 | -1): number {
  const tail = (value: number, values: readonly number[]): number => {
    const error = Math.sqrt((varianceOf(values) ?? 0) * (1 + 1 / values.length))
    return upperTail(sign * (value - mean(values)), error, values.length - 1)
  }
  const isPositive = Math.min(one, ...others) > 0
  return Math.max(tail(one, others), isPositive ? tail(Math.log(one), others.map(Math.log)) : 0)
}

/** The points of each unit that has any. */
function knownUnits({ units = [] }: Side): readonly Float64Array[] {
  return units.map((unit) => unit.filter((value) => !Number.isNaN(value))).filter(({ length }) => length > 0)
}

function tailOfPoints(unit: Float64Array | undefined, others: readonly Float64Array[], sign: 1 | -1): number {
  const baseline = Float64Array.from(others.flatMap((other) => [...other])).sort()
  const { above, below } = rankShift((unit ?? new Float64Array()).toSorted(), baseline)
  return normalUpperTail(sign > 0 ? above : below)
}

/** The usual difference between both sides in former runs, for one unit on each side. */
function ofRuns({ level, estimate }: Tested, usual: UsualSpread | undefined): LevelDifference | undefined {
  if (usual === undefined || usual.runs < MIN_RUNS) return undefined
  const deviation = usual.deviation * level
  const freedom = Math.max(2, MEDIAN_EFFICIENCY * usual.runs)
  return { estimate, error: deviation, freedom, about: { runs: usual.runs, deviation } }
}

function upperTail(estimate: number, error: number, freedom: number): number {
  if (error === 0) return estimate > 0 ? 0 : 1
  return studentUpperTail(estimate / error, freedom)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Undefined of a single value. */
function varianceOf(values: readonly number[]): number | undefined {
  if (values.length < 2) return undefined
  const centre = mean(values)
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1)
}
