import type { Fraction } from './fraction.js'

/** The mantissa of Go's big.Float when nothing else is asked for. */
const MANTISSA_BITS = 64

/** The nearest number with a 64-bit mantissa, halves to even, as a fraction with a power of two below. */
export function roundToExtended({ numerator, denominator }: Fraction): Fraction {
  if (numerator === 0n) return { numerator: 0n, denominator: 1n }
  let shift = MANTISSA_BITS - bitLength(numerator) + bitLength(denominator)
  if (scaled(numerator, denominator, shift).quotient >> BigInt(MANTISSA_BITS) > 0n) shift--
  const { quotient, rest, divisor } = scaled(numerator, denominator, shift)
  const roundsUp = 2n * rest > divisor || (2n * rest === divisor && (quotient & 1n) === 1n)
  const mantissa = roundsUp ? quotient + 1n : quotient
  return shift < 0
    ? { numerator: mantissa << BigInt(-shift), denominator: 1n }
    : { numerator: mantissa, denominator: 1n << BigInt(shift) }
}

/** numerator × 2^shift / denominator in whole numbers. */
function scaled(
  numerator: bigint,
  denominator: bigint,
  shift: number,
): { quotient: bigint; rest: bigint; divisor: bigint } {
  const dividend = shift > 0 ? numerator << BigInt(shift) : numerator
  const divisor = shift < 0 ? denominator << BigInt(-shift) : denominator
  return { quotient: dividend / divisor, rest: dividend % divisor, divisor }
}

function bitLength(value: bigint): number {
  return value.toString(2).length
}
