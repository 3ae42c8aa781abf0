import { AppError } from '../../../errors/app-error.js'
import { normalUpperQuantile } from '../../statistics/normal.js'
import { rankSum, rankSumVariance } from '../../statistics/rank-sum.js'

/**
 * Absolute accuracy, whatever the size of the values: a known defect of Kayenta's judge, kept for
 * compatibility.
 */
const ROOT_ACCURACY = 1e-4

/**
 * The shift of the experiment against the control. The bounds can be reversed, see `ROOT_ACCURACY`.
 */
export interface ShiftInterval {
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

/** The step by the secant, or by inverse quadratic interpolation where three points differ. */
function interpolate(previous: Point, best: Point, opposite: Point, half: number): number {
  const s = best.y / previous.y
  if (previous.x === opposite.x) return (2 * half * s) / (s - 1)
  const q = previous.y / opposite.y
  const r = best.y / opposite.y
  const numerator = s * (2 * half * q * (q - r) - (best.x - previous.x) * (r - 1))
  return numerator / -((q - 1) * (r - 1) * (s - 1))
}
