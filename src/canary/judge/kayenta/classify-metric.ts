import { rankSum } from '../../statistics/rank-sum.js'
import { describeSeries } from '../series/describe-series.js'
import { seededNormal, seededRandom } from '../series/seeded-random.js'
import type { Classification, MetricSpec } from '../series/types.js'
import { mannWhitneyInterval } from './mann-whitney-interval.js'
import type { ShiftInterval } from './mann-whitney-interval.js'

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
