import type { CentredSeries, Dependence } from '../samples/autocorrelation.js'
import { centred, dependence, strongest } from '../samples/autocorrelation.js'
import type { CleanSide } from '../samples/clean-side.js'
import type { CleanSides } from '../samples/metric-tests.js'
import { totalOf } from './total-events.js'
import { binomialLowerTail, binomialUpperTail } from '../../../statistics/binomial.js'
import type { Total } from './total-events.js'

/** How much more the difference of two rates varies than that of independent events would. */
export interface Widening {
  /** Variance by that of independent events; 1 when chance explains the difference. */
  readonly factor: number
  readonly freedom: number
  /** The standard error of the difference of the rates, from clusters. */
  readonly error?: number
  /** The dependence in time alone, which is a part of the factor. */
  readonly inTime: Dependence
}

/** Number of standard errors above chance from which counts are overdispersed. */
const OVERDISPERSED_ERRORS = 1
/** Limit for one side alone, higher because of the additional test. */
const OVERDISPERSED_ERRORS_ALONE = 2.5
const MIN_FREEDOM = 2

/**
 * Estimates the variance of each side's rate from its own squares (the sandwich estimate), times
 * the effect of its dependence in time, so bursts of the canary alone count whatever the baseline
 * shows. A side with less traffic shows fewer of the bursts that both sides have: its variance is
 * at least the one that the other side implies, if the rate of a point varies equally on both sides
 * (as in a negative binomial distribution).
 */
export function wideningOf({ control, experiment }: CleanSides): Widening {
  const [before, now] = [residuals(control), residuals(experiment)]
  const inTime = dependence([before.series, now.series])
  const isAlone = [before, now].some((side) => isClustered([side], OVERDISPERSED_ERRORS_ALONE))
  if (!isAlone && !isClustered([before, now], OVERDISPERSED_ERRORS)) {
    return { factor: inTime.inflation, freedom: inTime.freedom, inTime }
  }
  const [y, x] = [withBursts(before, now, inTime), withBursts(now, before, inTime)]
  const independent = independentVariance(before) + independentVariance(now)
  const factor = independent > 0 ? Math.max(1, (x.variance + y.variance) / independent) : 1
  const error = Math.sqrt(x.variance + y.variance)
  const freedom = (x.variance + y.variance) ** 2 / (x.variance ** 2 / x.freedom + y.variance ** 2 / y.freedom)
  return { factor, freedom: Math.max(MIN_FREEDOM, freedom), error, inTime }
}

interface Residuals {
  /** Standardized to variance 1 for independent events. */
  readonly series: CentredSeries
  readonly events: number
  readonly exposure: number
  /** Sums of the squares of standardized residuals, and of their excess over the mean. */
  readonly squares: number
  readonly inverseMeans: number
  /** Sums of squares and fourth powers of the raw residuals, and of the squared exposures. */
  readonly rawSquares: number
  readonly rawFourths: number
  readonly squaredExposures: number
}

function residuals(side: CleanSide): Residuals {
  const { events, exposure } = totalOf(side)
  const rate = events / exposure
  const sums = { squares: 0, inverseMeans: 0, rawSquares: 0, rawFourths: 0, squaredExposures: 0 }
  const values = side.values.map((value, index) => {
    const exposed = side.exposure[index] ?? 1
    sums.squaredExposures += exposed * exposed
    const expected = rate * exposed
    if (!(expected > 0)) return 0
    const square = (value - expected) ** 2
    sums.squares += square / expected
    sums.inverseMeans += 1 / expected
    sums.rawSquares += square
    sums.rawFourths += square * square
    return (value - expected) / Math.sqrt(expected)
  })
  return { series: centred(values, side.places), events, exposure, ...sums }
}

/** By Pearson's dispersion of the counts about their side's rate. */
function isClustered(sides: readonly Residuals[], errors: number): boolean {
  const sum = (of: (side: Residuals) => number): number => sides.reduce((total, side) => total + of(side), 0)
  const points = sum(({ series }) => series.values.length)
  const dispersion = sum(({ squares }) => squares) / Math.max(1, points - sides.length)
  // The variance of one squared residual of a Poisson count with mean u is 2 + 1 / u.
  const error = Math.sqrt(2 * points + sum(({ inverseMeans }) => inverseMeans)) / points
  return dispersion > 1 + errors * error
}

/** The variance of a side's rate for independent events. */
function independentVariance({ events, exposure }: Residuals): number {
  return events / exposure ** 2
}

/**
 * The variance of a side's rate as estimated from its points, and its degrees of freedom
 * (Satterthwaite, by the observed kurtosis).
 */
function withBursts(
  side: Residuals,
  other: Residuals,
  together: Dependence,
): { variance: number; freedom: number } {
  const points = side.series.values.length
  const inTime = strongest(together, dependence([side.series]))
  const own = side.rawSquares * (points / Math.max(1, points - 1))
  const mean = side.rawSquares / points
  const excess = side.rawFourths / points - mean * mean
  const freedom = excess > 0 ? (2 * points * mean * mean) / excess : points
  const isSmaller = side.exposure / points < other.exposure / other.series.values.length
  const expected = isSmaller ? side.events + burstVariance(other) * side.squaredExposures : 0
  return {
    variance: (inTime.inflation * Math.max(own, expected)) / side.exposure ** 2,
    freedom: Math.max(1, Math.min(inTime.freedom, freedom / inTime.inflation)),
  }
}

/** By how much the rate itself varies from point to point. */
function burstVariance({ rawSquares, events, squaredExposures }: Residuals): number {
  return squaredExposures > 0 ? Math.max(0, rawSquares - events) / squaredExposures : 0
}

const BISECTION_STEPS = 60

/**
 * P(as many events or more on one side) if both sides have the same rate, given the sum. The
 * observed value counts half (mid-p).
 */
export function moreEventsP(x: Total, y: Total): number {
  if (x.events + y.events === 0) return 1
  return upperMidP(x.events, x.events + y.events, x.exposure / (x.exposure + y.exposure))
}

/**
 * The ratio of the first side's rate to the other's at which the test by `moreEventsP` leaves
 * `error` on each side. Both sides are random, so their sum is given and the share is uncertain.
 */
export function rateRatioInterval(x: Total, y: Total, error: number): readonly [number, number] {
  const events = x.events + y.events
  const ratioOf = (share: number): number =>
    share >= 1 ? Infinity : (share / (1 - share)) * (y.exposure / x.exposure)
  const shareWhere = (isBelow: (share: number) => boolean): number => {
    let [low, high] = [0, 1]
    for (let step = 0; step < BISECTION_STEPS; step += 1) {
      const middle = (low + high) / 2
      if (isBelow(middle)) low = middle
      else high = middle
    }
    return (low + high) / 2
  }
  const lower = x.events === 0 ? 0 : shareWhere((share) => upperMidP(x.events, events, share) < error)
  const upper = y.events === 0 ? 1 : shareWhere((share) => upperMidP(x.events, events, share) < 1 - error)
  return [ratioOf(lower), ratioOf(upper)]
}

/**
 * The difference of two rates, combined from the score interval of each, at `z` standard errors
 * (Zou and Donner 2008). `factor` reduces the events to an equivalent number of independent events.
 */
export function rateDifferenceInterval(
  x: Total,
  y: Total,
  z: number,
  factor: number,
): readonly [number, number] {
  const [one, other] = [scoreInterval(x, z, factor), scoreInterval(y, z, factor)]
  const [rate, before] = [x.events / x.exposure, y.events / y.exposure]
  const difference = rate - before
  return [
    difference - Math.hypot(rate - one[0], other[1] - before),
    difference + Math.hypot(one[1] - rate, before - other[0]),
  ]
}

function scoreInterval({ events, exposure }: Total, z: number, factor: number): readonly [number, number] {
  const worth = events / factor
  const [centre, reach] = [worth + (z * z) / 2, z * Math.sqrt(worth + (z * z) / 4)]
  return [((centre - reach) * factor) / exposure, ((centre + reach) * factor) / exposure]
}

function upperMidP(events: number, all: number, share: number): number {
  const atLeast = binomialUpperTail(events, all, share)
  const exactly = atLeast + binomialLowerTail(events, all, share) - 1
  return atLeast - exactly / 2
}
