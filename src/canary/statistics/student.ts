import { betaDistribution } from './beta.js'
import { normalUpperQuantile, normalUpperTail } from './normal.js'

/** Degrees of freedom from which the normal distribution matches to six digits. */
const AS_GOOD_AS_NORMAL = 1e6
const BISECTION_STEPS = 80

/** P(T >= t) of Student's distribution with the given degrees of freedom (a fraction is fine). */
export function studentUpperTail(t: number, freedom: number): number {
  if (freedom >= AS_GOOD_AS_NORMAL) return normalUpperTail(t)
  const tail = 0.5 * betaDistribution(freedom / (freedom + t * t), freedom / 2, 0.5)
  return t >= 0 ? tail : 1 - tail
}

/** The t with P(T >= t) = share, for shares up to 0.5. */
export function studentUpperQuantile(share: number, freedom: number): number {
  let low = 0
  let high = Math.max(1, normalUpperQuantile(share))
  while (studentUpperTail(high, freedom) > share) {
    low = high
    high *= 2
  }
  for (let step = 0; step < BISECTION_STEPS && high - low > 1e-12 * high; step += 1) {
    const middle = (low + high) / 2
    if (studentUpperTail(middle, freedom) > share) low = middle
    else high = middle
  }
  return (low + high) / 2
}
