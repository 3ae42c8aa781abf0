import { trimTrailing } from '../../../lib/text/trim-characters.js'
import { BigDecimal } from '../../values/number-text.js'

export type FloatVerb = 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'b' | 'x' | 'X'

/** Digits of a number, `0.d1d2d3… × 10^point`, without trailing zeros; zero has none. */
interface Digits {
  readonly digits: string
  readonly point: number
}

/**
 * Formats a double like Go's strconv.FormatFloat. Without a precision it uses the fewest digits
 * that identify the double. The sign is `-` or absent.
 */
export function formatGoFloat(value: number, verb: FloatVerb, precision?: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const magnitude = Math.abs(value)
  if (magnitude === Infinity) return value < 0 ? '-Inf' : '+Inf'
  if (Number.isNaN(magnitude)) return 'NaN'
  switch (verb) {
    case 'f':
    case 'F':
      return sign + plainForm(magnitude, precision)
    case 'e':
    case 'E':
      return sign + exponentForm(magnitude, verb, precision)
    case 'g':
    case 'G':
      return sign + shorterForm(magnitude, verb === 'G' ? 'E' : 'e', precision)
    case 'b':
      return sign + formatBinaryFloat(magnitude)
    case 'x':
      return sign + formatHexFloat(magnitude, precision)
    case 'X':
      return sign + formatHexFloat(magnitude, precision).toUpperCase()
  }
}

function plainForm(value: number, precision: number | undefined): string {
  if (precision !== undefined) return exactDecimal(value).toFixed(precision, BigDecimal.ROUND_HALF_EVEN)
  return new BigDecimal(value).toFixed()
}

function exponentForm(value: number, letter: 'e' | 'E', precision: number | undefined): string {
  if (value === 0) return exponentText('0', precision ?? 0, 1, letter)
  if (precision === undefined) {
    const { digits, point } = shortestDigits(value)
    return exponentText(digits, digits.length - 1, point, letter)
  }
  const { digits, point } = roundedDigits(value, precision + 1)
  return exponentText(digits, precision, point, letter)
}

function exponentText(digits: string, fraction: number, point: number, letter: string): string {
  const tail = fraction > 0 ? `.${digits.slice(1).padEnd(fraction, '0')}` : ''
  const exponent = point - 1
  const exponentDigits = String(Math.abs(exponent)).padStart(2, '0')
  return `${digits.charAt(0)}${tail}${letter}${exponent < 0 ? '-' : '+'}${exponentDigits}`
}

/** `%g`: exponent form for very large or small values. Drops trailing zeros. */
function shorterForm(value: number, letter: 'e' | 'E', precision: number | undefined): string {
  const digits = precision === undefined ? shortestDigits(value) : roundedDigits(value, precision || 1)
  return layOutDigits(digits, letter, exponentLimit(digits.digits.length, digits.point, precision))
}

/** Formats a decimal number of any size like Go's big.Float under `%g`, with all its digits. */
export function formatGoDecimal(text: string): string {
  const value = new BigDecimal(text)
  if (value.isZero()) return '0'
  return (value.isNegative() ? '-' : '') + layOutDigits(readExponential(value.abs().toExponential()), 'e', 6)
}

function layOutDigits({ digits, point }: Digits, letter: 'e' | 'E', limit: number): string {
  if (digits === '') return '0'
  const exponent = point - 1
  if (exponent < -4 || exponent >= limit) return exponentText(digits, digits.length - 1, point, letter)
  if (point <= 0) return `0.${'0'.repeat(-point)}${digits}`
  if (digits.length <= point) return digits.padEnd(point, '0')
  return `${digits.slice(0, point)}.${digits.slice(point)}`
}

/** Returns the exponent from which `%g` uses exponent form; 6 for Go's own digits. */
function exponentLimit(digitCount: number, point: number, precision: number | undefined): number {
  if (precision === undefined) return 6
  const wanted = precision || 1
  return wanted > digitCount && digitCount >= point ? digitCount : wanted
}

/** Returns the fewest digits that identify this double, which are the same in JavaScript and Go. */
function shortestDigits(value: number): Digits {
  if (value === 0) return { digits: '', point: 0 }
  return readExponential(value.toExponential())
}

function roundedDigits(value: number, count: number): Digits {
  if (value === 0) return { digits: '', point: 0 }
  return readExponential(exactDecimal(value).toExponential(count - 1, BigDecimal.ROUND_HALF_EVEN))
}

function readExponential(text: string): Digits {
  const [mantissa = '', exponent = '0'] = text.split('e')
  return { digits: trimTrailing(mantissa.replace('.', ''), '0'), point: Number(exponent) + 1 }
}

/** Returns the exact decimal value; BigDecimal would use the shortest text. */
function exactDecimal(value: number): InstanceType<typeof BigDecimal> {
  const { mantissa, exponent } = splitFloat(value)
  return new BigDecimal(mantissa.toString()).times(new BigDecimal(2).pow(exponent))
}

const FRACTION_BITS = 52
const FRACTION_HEX_DIGITS = 13

/** The exact value of a finite double: mantissa × 2^exponent. */
interface FloatParts {
  readonly mantissa: bigint
  readonly exponent: number
}

/** Returns the exact parts of the double's magnitude, with the 53-bit mantissa of IEEE 754. */
function splitFloat(value: number): FloatParts {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const exponentBits = Number(bits >> 52n) & 0x7ff
  const fraction = bits & 0xf_ffff_ffff_ffffn
  const mantissa = exponentBits === 0 ? fraction : fraction | 0x10_0000_0000_0000n
  return { mantissa, exponent: (exponentBits === 0 ? 1 : exponentBits) - 1023 - FRACTION_BITS }
}

/** Go's `%b`: `4503599627370496p-52`, without a sign. */
function formatBinaryFloat(value: number): string {
  const { mantissa, exponent } = splitFloat(value)
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`
}

/** Go's `%x`: `0x1.8p+00`, without a sign; the fewest hex digits if there is no precision. */
function formatHexFloat(value: number, precision?: number): string {
  const parts = splitFloat(value)
  if (parts.mantissa === 0n) return hexText('0', precision ?? 0, 0)
  const shift = FRACTION_BITS + 1 - parts.mantissa.toString(2).length
  const { digits, carry } = roundHex(parts.mantissa << BigInt(shift), precision)
  return hexText(digits, precision ?? digits.length - 1, parts.exponent - shift + FRACTION_BITS + carry)
}

/** Returns the leading 1 and its hex digits, rounded half to even. */
function roundHex(mantissa: bigint, precision: number | undefined): { digits: string; carry: number } {
  if (precision === undefined) return { digits: mantissa.toString(16).replace(/0+$/, ''), carry: 0 }
  if (precision >= FRACTION_HEX_DIGITS) return { digits: mantissa.toString(16), carry: 0 }
  const dropped = BigInt(4 * (FRACTION_HEX_DIGITS - precision))
  const half = 1n << (dropped - 1n)
  const rest = mantissa & ((1n << dropped) - 1n)
  const kept = mantissa >> dropped
  const roundsUp = rest > half || (rest === half && (kept & 1n) === 1n)
  const digits = (roundsUp ? kept + 1n : kept).toString(16)
  return digits.startsWith('2') ? { digits: `1${digits.slice(1)}`, carry: 1 } : { digits, carry: 0 }
}

function hexText(digits: string, fraction: number, exponent: number): string {
  const tail = fraction > 0 ? `.${digits.slice(1).padEnd(fraction, '0')}` : ''
  const power = String(Math.abs(exponent)).padStart(2, '0')
  return `0x${digits.charAt(0)}${tail}p${exponent < 0 ? '-' : '+'}${power}`
}
