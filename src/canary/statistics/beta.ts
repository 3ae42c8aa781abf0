import { logBeta } from './log-gamma.js'

const SMALLEST = 1e-300
const PRECISION = 1e-15
const MAX_FRACTION_TERMS = 100_000
const MAX_QUANTILE_STEPS = 200

/**
 * The regularised incomplete beta function I_x(a, b): the share of Beta(a, b) up to x. For a, b >
 * 0.
 */
export function betaDistribution(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  // The fraction converges fast on this side of the mean only.
  return x <= (a + 1) / (a + b + 2) ? lowerShare(x, 1 - x, a, b) : 1 - lowerShare(1 - x, x, b, a)
}

/** 1 - I_x(a, b) without losing the digits of a small share. */
export function betaUpperTail(x: number, a: number, b: number): number {
  if (x <= 0) return 1
  if (x >= 1) return 0
  return x <= (a + 1) / (a + b + 2) ? 1 - lowerShare(x, 1 - x, a, b) : lowerShare(1 - x, x, b, a)
}

/** The x up to which Beta(a, b) has the given share. */
export function betaQuantile(share: number, a: number, b: number): number {
  if (share <= 0) return 0
  if (share >= 1) return 1
  let low = 0
  let high = 1
  let x = a / (a + b)
  for (let step = 0; step < MAX_QUANTILE_STEPS && high - low > PRECISION * high; step += 1) {
    const excess = betaDistribution(x, a, b) - share
    if (excess > 0) high = x
    else low = x
    const density = Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) - logBeta(a, b))
    const next = x - excess / density
    const moved = next > low && next < high ? next : (low + high) / 2
    if (Math.abs(moved - x) <= PRECISION * x) return moved
    x = moved
  }
  return x
}

/** The continued fraction of Abramowitz and Stegun 26.5.8 by the modified method of Lentz. */
function lowerShare(x: number, rest: number, a: number, b: number): number {
  const front = Math.exp(a * Math.log(x) + b * Math.log(rest) - logBeta(a, b)) / a
  let c = 1
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let term = 1; term < MAX_FRACTION_TERMS; term += 1) {
    const at = a + 2 * term
    const even = (term * (b - term) * x) / ((at - 1) * at)
    d = 1 / awayFromZero(1 + even * d)
    c = awayFromZero(1 + even / c)
    fraction *= d * c
    const odd = (-(a + term) * (a + b + term) * x) / (at * (at + 1))
    d = 1 / awayFromZero(1 + odd * d)
    c = awayFromZero(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < PRECISION) break
  }
  return Math.min(1, front * fraction)
}

function awayFromZero(value: number): number {
  return Math.abs(value) < SMALLEST ? SMALLEST : value
}
