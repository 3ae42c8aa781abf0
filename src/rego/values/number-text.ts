import { Decimal } from 'decimal.js'

/** Decimals with more digits than policies write, and exponents beyond OPA's `1e1000`. */
export const BigDecimal = Decimal.clone({ precision: 1100, toExpNeg: -9e15, toExpPos: 9e15 })

const PLAIN_INTEGER = /^-?(?:0|[1-9]\d*)$/
/**
 * Above this number of digits a number stays in exponent form, so that `1e999999999` does not
 * exhaust memory.
 */
const MAX_PLAIN_DIGITS = 4096

/** Returns the canonical text of a number: `1` for `1.0`, `1e0` and `1`. */
export function normaliseNumberText(text: string): string {
  if (PLAIN_INTEGER.test(text)) return text === '-0' ? '0' : text
  const value = new BigDecimal(text)
  if (value.isZero()) return '0'
  return Math.abs(value.e) > MAX_PLAIN_DIGITS ? value.toExponential() : value.toFixed()
}

/** Compares two JSON number texts by value: negative, zero or positive. */
export function compareNumberText(a: string, b: string): number {
  if (a === b) return 0
  if (a.length < 16 && b.length < 16) return Number(a) - Number(b)
  return new BigDecimal(a).comparedTo(new BigDecimal(b))
}
