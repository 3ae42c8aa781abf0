import { AppError } from '../../errors/app-error.js'

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI)
/** Above this the series of Stirling is exact to the last digit of a double. */
const STIRLING_FROM = 15
/** B(2k) / (2k (2k-1)), k = 1 to 7: Abramowitz and Stegun 6.1.41. */
const STIRLING_TERMS = [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]

/** The natural logarithm of the gamma function for x > 0. */
export function logGamma(x: number): number {
  if (!(x > 0)) throw new AppError('evaluation_failed', `the gamma function is not defined for ${x}`)
  let shifted = x
  let product = 1
  while (shifted < STIRLING_FROM) {
    product *= shifted
    shifted += 1
  }
  return (shifted - 0.5) * Math.log(shifted) - shifted + HALF_LOG_TWO_PI + tail(shifted) - Math.log(product)
}

/**
 * The natural logarithm of the beta function for a, b > 0; for large arguments without the
 * cancellation of `logGamma`.
 */
export function logBeta(a: number, b: number): number {
  if (Math.min(a, b) < STIRLING_FROM) return logGamma(a) + logGamma(b) - logGamma(a + b)
  const sum = a + b
  const corrections = tail(a) + tail(b) - tail(sum)
  return (
    HALF_LOG_TWO_PI - 0.5 * Math.log(b) + (a - 0.5) * Math.log(a / sum) + b * Math.log(b / sum) + corrections
  )
}

/** The natural logarithm of n over k. */
export function logChoose(n: number, k: number): number {
  return k === 0 || k === n ? 0 : -Math.log(n + 1) - logBeta(k + 1, n - k + 1)
}

function tail(x: number): number {
  const inverseSquare = 1 / (x * x)
  return STIRLING_TERMS.reduceRight((sum, term) => sum * inverseSquare + term, 0) / x
}
