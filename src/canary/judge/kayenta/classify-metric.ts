import { rankSum, rankSumVariance } from '../../statistics/rank-sum.js'
import { describeSeries } from '../series/describe-series.js'
import { seededNormal, seededRandom } from '../series/seeded-random.js'
import type { Classification, MetricSpec } from '../series/types.js'
import { AppError } from '../../../errors/app-error.js'
import { normalUpperQuantile } from '../../statistics/normal.js'

/** The share of the shift itself that does not matter, and the confidence of the interval. */
export interface KayentaSettings {
  readonly tolerance: number
  readonly confidence: number
}

/** Both sides after cleaning. */
export interface CleanedSides {
  readonly control: Float64Array
  readonly experiment: Float64Array
}

export interface KayentaClassification {
  readonly classification: Classification
  readonly reason: string
  readonly critical: boolean
  /**
   * Mean of the experiment divided by the mean of the control. NaN if one mean is 0, 1 if nothing
   * was compared.
   */
  readonly ratio: number
}

const NOISE_SHARE = 1e-5
const NOISE_SEED = 12_345
const MAX_REDRAWS = 20

/**
 * Judges one metric as the NetflixACAJudge does (analysis.md 1.2, steps 3 to 12). Raises what its
 * step 13 turns into `Error`.
 */
export function classifyMetric(
  sides: CleanedSides,
  spec: MetricSpec,
  settings: KayentaSettings,
): KayentaClassification {
  const { control, experiment } = sides
  if (control.length === 0 || experiment.length === 0) return withoutData(sides, spec)
  const same = sameness(sides)
  if (same !== undefined) return pass(same)
  const { experiment: x, control: y } = withNoise(sides)
  const interval = mannWhitneyInterval(x, y, settings.confidence)
  const ratio = meanRatio(x, y)
  const effect = spec.effectSize.measure === 'cles' ? superiority(x, y) : ratio
  return decide(interval, effect, ratio, spec, settings.tolerance)
}

function withoutData({ control, experiment }: CleanedSides, spec: MetricSpec): KayentaClassification {
  if (spec.nanStrategy === 'replace') return pass('no data on one side, which nanStrategy replace lets pass')
  const missing = [
    ...(experiment.length === 0 ? ['experiment'] : []),
    ...(control.length === 0 ? ['control'] : []),
  ].join(' and ')
  const reason = `Missing data for ${missing}`
  const fails = spec.mustHaveData && !spec.critical
  return fails
    ? { classification: 'NodataFailMetric', reason, critical: false, ratio: 1 }
    : { classification: 'Nodata', reason, critical: spec.critical, ratio: 1 }
}

function sameness({ control, experiment }: CleanedSides): string | undefined {
  const [x, y] = [experiment.toSorted(), control.toSorted()]
  if (x.length === y.length && x.every((value, index) => value === y[index])) {
    return 'The experiment and control data are identical'
  }
  return x[0] === x.at(-1) && y[0] === y.at(-1) && x[0] === y[0] ? 'All values are equal' : undefined
}

/**
 * Adds noise to two different constants, whose rank statistic has no variance almost everywhere.
 */
function withNoise(sides: CleanedSides): CleanedSides {
  const isConstant = (values: Float64Array): boolean => values.every((value) => value === values[0])
  if (!isConstant(sides.control) || !isConstant(sides.experiment)) return sides
  const normal = seededNormal(seededRandom(NOISE_SEED))
  const jittered = (values: Float64Array): Float64Array =>
    values.map((value) => value + value * NOISE_SHARE * normal())
  const draw = (): CleanedSides => ({
    control: jittered(sides.control),
    experiment: jittered(sides.experiment),
  })
  let drawn = draw()
  for (let redraws = 0; redraws < MAX_REDRAWS && isOneTie(drawn); redraws += 1) drawn = draw()
  return drawn
}

/**
 * Whether one point on each side still ties after the shift. The statistic has a variance only if
 * rounding keeps the two apart.
 */
function isOneTie({ control, experiment }: CleanedSides): boolean {
  const [[x = 0], [y = 0]] = [experiment, control]
  return experiment.length === 1 && control.length === 1 && x - (x - y) === y
}

function meanRatio(x: Float64Array, y: Float64Array): number {
  const [experiment, control] = [describeSeries(x).mean, describeSeries(y).mean]
  return experiment === 0 || control === 0 ? Number.NaN : experiment / control
}

/** The chance that a value of x is above one of y, half of the equal ones counted (CLES). */
function superiority(x: Float64Array, y: Float64Array): number {
  const { sum } = rankSum(x.toSorted(), y.toSorted())
  return (2 * sum - x.length * (x.length + 1)) / (2 * x.length * y.length)
}

function decide(
  { lower, upper, estimate }: ShiftInterval,
  effect: number,
  ratio: number,
  { direction, critical, effectSize }: MetricSpec,
  tolerance: number,
): KayentaClassification {
  const bound = tolerance * Math.abs(estimate)
  const interval = `the shift is ${short(estimate)}, between ${short(lower)} and ${short(upper)}`
  const atLeast = (limit: number): boolean => Number.isNaN(effect) || effect >= limit
  const atMost = (limit: number): boolean => Number.isNaN(effect) || effect <= limit
  if (direction !== 'decrease' && lower > bound && atLeast(effectSize.allowedIncrease)) {
    const reason = `The metric was classified as High: ${interval}`
    return {
      classification: 'High',
      reason,
      critical: critical && atLeast(effectSize.criticalIncrease),
      ratio,
    }
  }
  if (direction !== 'increase' && upper < -bound && atMost(effectSize.allowedDecrease)) {
    const reason = `The metric was classified as Low: ${interval}`
    return { classification: 'Low', reason, critical: critical && atMost(effectSize.criticalDecrease), ratio }
  }
  return { classification: 'Pass', reason: interval, critical: false, ratio }
}

function pass(reason: string): KayentaClassification {
  return { classification: 'Pass', reason, critical: false, ratio: 1 }
}

function short(value: number): string {
  return String(Number(value.toPrecision(4)))
}

/**
 * Absolute accuracy, whatever the size of the values: a known defect of Kayenta's judge, kept for
 * compatibility.
 */
const ROOT_ACCURACY = 1e-4

/**
 * The shift of the experiment against the control. The bounds can be reversed, see `ROOT_ACCURACY`.
 */
interface ShiftInterval {
  readonly lower: number
  readonly upper: number
  readonly estimate: number
}

/**
 * The Mann-Whitney confidence interval and the Hodges-Lehmann estimate of a shift, as roots of the
 * standardised rank statistic (analysis.md 1.2, step 7). Raises `evaluation_failed` if the
 * statistic has no variance or a root is not found.
 */
export function mannWhitneyInterval(
  experiment: Float64Array,
  control: Float64Array,
  confidence: number,
): ShiftInterval {
  const x = experiment.toSorted()
  const y = control.toSorted()
  const least = (x[0] ?? 0) - (y.at(-1) ?? 0)
  const most = (x.at(-1) ?? 0) - (y[0] ?? 0)
  const z = normalUpperQuantile((1 - confidence) / 2)
  const statistic = (shift: number): number => standardised(x, y, shift)
  const rootOf = (level: number): number => {
    const root = brentRoot((shift) => statistic(shift) - level, least, most, ROOT_ACCURACY)
    if (root === undefined) throw new AppError('evaluation_failed', 'the rank statistic has no root')
    return root
  }
  return {
    lower: statistic(least) <= z ? least : rootOf(z),
    upper: statistic(most) >= -z ? most : rootOf(-z),
    estimate: rootOf(0),
  }
}

function standardised(x: Float64Array, y: Float64Array, shift: number): number {
  const [n, m] = [x.length, y.length]
  const { sum, ties } = rankSum(x, y, shift)
  const distance = sum - (n * (n + 1)) / 2 - (n * m) / 2
  const deviation = Math.sqrt(rankSumVariance(n, m, ties))
  if (!(deviation > 0)) throw new AppError('evaluation_failed', 'all values are equal at this shift')
  return (distance - 0.5 * Math.sign(distance)) / deviation
}

const MAX_STEPS = 1000

/** A point of the function. */
interface Point {
  readonly x: number
  readonly y: number
}

/**
 * A root of `f` between two bounds by Brent's method (Brent 1973, chapter 4), known to half of the
 * absolute `accuracy`. Undefined if the function has the same sign at both bounds, or after
 * `MAX_STEPS` steps.
 */
export function brentRoot(
  f: (x: number) => number,
  lower: number,
  upper: number,
  accuracy: number,
): number | undefined {
  const start = { x: lower, y: f(lower) }
  if (start.y === 0) return lower
  const end = { x: upper, y: f(upper) }
  if (end.y === 0) return upper
  return start.y > 0 === end.y > 0 ? undefined : refine(f, start, end, accuracy)
}

/** `best` is the nearest so far, `previous` the one before, `opposite` has the other sign. */
function refine(f: (x: number) => number, from: Point, to: Point, accuracy: number): number | undefined {
  let [previous, best, opposite] = [from, to, from]
  let step = best.x - previous.x
  let stepBefore = step
  for (let count = 0; count < MAX_STEPS; count += 1) {
    if (Math.abs(opposite.y) < Math.abs(best.y)) [previous, best, opposite] = [best, opposite, best]
    const tolerance = 2 * Number.EPSILON * Math.abs(best.x) + accuracy / 2
    const half = 0.5 * (opposite.x - best.x)
    if (Math.abs(half) <= tolerance || best.y === 0) return best.x
    const mayInterpolate = Math.abs(stepBefore) >= tolerance && Math.abs(previous.y) > Math.abs(best.y)
    const tried = mayInterpolate ? interpolate(previous, best, opposite, half) : undefined
    const staysInside = tried !== undefined && Math.abs(tried) < 1.5 * half * Math.sign(tried) - tolerance
    const interpolates = staysInside && Math.abs(tried) < Math.abs(0.5 * stepBefore)
    stepBefore = interpolates ? step : half
    step = interpolates ? tried : half
    previous = best
    const x = best.x + (Math.abs(step) > tolerance ? step : Math.sign(half) * tolerance)
    best = { x, y: f(x) }
    if (best.y > 0 === opposite.y > 0) {
      opposite = previous
      step = best.x - previous.x
      stepBefore = step
    }
  }
  return undefined
}

/** The secant step, or inverse quadratic interpolation if three points differ. */
function interpolate(previous: Point, best: Point, opposite: Point, half: number): number {
  const s = best.y / previous.y
  if (previous.x === opposite.x) return (2 * half * s) / (s - 1)
  const q = previous.y / opposite.y
  const r = best.y / opposite.y
  const numerator = s * (2 * half * q * (q - r) - (best.x - previous.x) * (r - 1))
  return numerator / -((q - 1) * (r - 1) * (s - 1))
}
