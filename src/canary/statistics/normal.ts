const SQRT_TWO_PI = Math.sqrt(2 * Math.PI)
/** Below this the power series is faster and more exact; above it the continued fraction is. */
const SERIES_UP_TO = 3
const FRACTION_TERMS = 80
const NEWTON_STEPS = 4

/** P(Z >= z) of the standard normal distribution, without losing the digits of a small tail. */
export function normalUpperTail(z: number): number {
  if (z < 0) return 1 - normalUpperTail(-z)
  if (z === Infinity) return 0
  return z <= SERIES_UP_TO ? 0.5 - seriesFromZero(z) : farTail(z)
}

/** The z with P(Z >= z) = share. */
export function normalUpperQuantile(share: number): number {
  if (share > 0.5) return -normalUpperQuantile(1 - share)
  if (share <= 0) return Infinity
  let z = roughNormalUpperQuantile(share)
  for (let step = 0; step < NEWTON_STEPS; step += 1) {
    z += (normalUpperTail(z) - share) / density(z)
  }
  return z
}

function density(z: number): number {
  return Math.exp((-z * z) / 2) / SQRT_TWO_PI
}

/** P(0 <= Z <= z): Abramowitz and Stegun 26.2.11. */
function seriesFromZero(z: number): number {
  let term = z
  let sum = z
  for (let odd = 3; term > sum * 1e-17; odd += 2) {
    term *= (z * z) / odd
    sum += term
  }
  return density(z) * sum
}

/** The continued fraction of Abramowitz and Stegun 26.2.14, from its end. */
function farTail(z: number): number {
  let fraction = z
  for (let term = FRACTION_TERMS; term >= 1; term -= 1) fraction = z + term / fraction
  return density(z) / fraction
}

/**
 * An approximate upper quantile for shares up to 0.5, off by less than 0.0005 (Abramowitz and
 * Stegun 26.2.23).
 */
export function roughNormalUpperQuantile(share: number): number {
  const t = Math.sqrt(-2 * Math.log(share))
  return t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)))
}
