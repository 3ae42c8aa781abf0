import { scoresAmong } from '../../../statistics/normal-scores.js'

/** A series centred on its mean, with the places of its points in time. */
export interface CentredSeries {
  readonly values: Float64Array
  readonly places: Int32Array
}

/** The similarity of neighbours in time, and its effect on the evidence. */
export interface Dependence {
  /** Lag-1 autocorrelation over both sides, corrected for its bias; 0 when chance explains it. */
  readonly autocorrelation: number
  /** By how much dependence widens a variance: (1 + r) / (1 - r). */
  readonly inflation: number
  /** Degrees of freedom of that widening, which is itself an estimate. */
  readonly freedom: number
}

/** An autocorrelation below this number of standard errors counts as chance. */
const CHANCE_ERRORS = 2
/**
 * Used while more data is to come: few points do not show their dependence, so nothing counts as
 * chance.
 */
export const NO_CHANCE = 0
/** Standard errors added to the autocorrelation, since an underestimate causes false alarms. */
const CAUTION = 0.8
/** Upper limit of an autocorrelation. */
const MAX_AUTOCORRELATION = 0.99
const MIN_FREEDOM = 2
/**
 * Number of standard errors above the control's autocorrelation from which the experiment's comes
 * from a change.
 */
const CHANGED_ERRORS = 4.5

/** Sums over a series and its neighbours without a gap between. */
interface LagOne {
  readonly products: number
  readonly squares: number
  readonly pairs: number
  readonly points: number
}

/**
 * The dependence within the control and, unless a change caused it there, the experiment, combined.
 * The variance of ln((1 + r) / (1 - r)) is 4 / (N (1 - r^2)), as that of a chi-square with N (1 -
 * r^2) / 2 degrees of freedom. Tests that use the inflation take their quantiles from that
 * distribution.
 */
export function dependence(
  sides: readonly CentredSeries[],
  chanceErrors = CHANCE_ERRORS,
  cautionErrors = CAUTION,
): Dependence {
  const all = sides.map(lagOne)
  const used = trusted(all)
  const points = used.reduce((sum, side) => sum + side.points, 0)
  const pairs = used.reduce((sum, side) => sum + side.pairs, 0)
  const unbiased = withoutBias(autocorrelationOf(used), points / used.length)
  const isChance = unbiased * Math.sqrt(pairs) < chanceErrors
  const caution = cautionErrors * Math.sqrt(Math.max(0, 1 - unbiased ** 2) / points)
  const r = isChance ? 0 : Math.min(MAX_AUTOCORRELATION, unbiased + caution)
  return {
    autocorrelation: r,
    inflation: (1 + r) / (1 - r),
    freedom: Math.max(MIN_FREEDOM, r > 0 ? (points * (1 - r * r)) / 2 : points),
  }
}

/**
 * Leaves out an experiment that depends in time far more than the control. A change in the middle
 * of the window makes the experiment's neighbours alike and would otherwise hide itself.
 */
function trusted(sides: readonly LagOne[]): readonly LagOne[] {
  const [control, experiment] = sides
  if (control === undefined || experiment === undefined || !(control.squares > 0)) return sides
  const [before, after] = [control, experiment].map((side) =>
    withoutBias(autocorrelationOf([side]), side.points),
  )
  const error = Math.sqrt(1 / Math.max(1, control.pairs) + 1 / Math.max(1, experiment.pairs))
  return (after ?? 0) - (before ?? 0) > CHANGED_ERRORS * error ? [control] : sides
}

function autocorrelationOf(sides: readonly LagOne[]): number {
  const sum = (of: (side: LagOne) => number): number => sides.reduce((total, side) => total + of(side), 0)
  const [pairs, squares] = [sum(({ pairs: count }) => count), sum((side) => side.squares)]
  if (pairs === 0 || squares === 0) return 0
  return sum(({ products }) => products) / pairs / (squares / sum(({ points }) => points))
}

/** Kendall (1954): the estimate is too low by (1 + 3 r) / n. */
function withoutBias(r: number, points: number): number {
  return r + (1 + 3 * r) / Math.max(1, points)
}

/** Independent points: the dependence without considering their order. */
export function independence(points: number): Dependence {
  return { autocorrelation: 0, inflation: 1, freedom: Math.max(MIN_FREEDOM, points / 2) }
}

/** Values less their mean. */
export function centred(values: Float64Array, places: Int32Array): CentredSeries {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
  return { values: values.map((value) => value - mean), places }
}

/**
 * The normal scores of a series, robust against spikes. `sorted` has its values in ascending order.
 */
export function centredScores(
  values: Float64Array,
  places: Int32Array,
  sorted: Float64Array = values.toSorted(),
): CentredSeries {
  return centred(scoresAmong(sorted, values), places)
}

/** The estimate of one dependence that widens the most; the first of equal ones. */
export function strongest(first: Dependence, ...others: readonly Dependence[]): Dependence {
  return others.reduce((most, other) => (other.inflation > most.inflation ? other : most), first)
}

/** Only consecutive points without a gap show how alike neighbours are. */
function lagOne({ values, places }: CentredSeries): LagOne {
  let [products, squares, pairs] = [0, 0, 0]
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0
    squares += value * value
    if (index === 0 || (places[index] ?? 0) - (places[index - 1] ?? 0) !== 1) continue
    products += value * (values[index - 1] ?? 0)
    pairs += 1
  }
  return { products, squares, pairs, points: values.length }
}
