import { trimLastSigns } from '../../../lib/text/trim-signs.js'
import { BigDecimal } from '../../values/number-text.js'
import { formatBinaryFloat, formatHexFloat, splitFloat } from './binary-float.js'

export type FloatVerb = 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'b' | 'x' | 'X'

/** Decimal digits of a number: `0.d1d2d3… × 10^point`, without trailing zeros; zero has no digits. */
interface Digits {
  readonly digits: string
  readonly point: number
}

/**
 * A double as Go's strconv.FormatFloat writes it. Without a precision: the fewest digits that read back as the same
 * double. The sign is `-` or nothing.
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

/** `%g`: the exponent form for very large or small values, else the plain form, both without trailing zeros. */
function shorterForm(value: number, letter: 'e' | 'E', precision: number | undefined): string {
  const digits = precision === undefined ? shortestDigits(value) : roundedDigits(value, precision || 1)
  return layOutDigits(digits, letter, exponentLimit(digits.digits.length, digits.point, precision))
}

/** A decimal number of any size as Go's big.Float prints it under `%g`: all its digits. */
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

/** From which exponent on `%g` turns to the exponent form; Go takes 6 when it may choose the digits itself. */
function exponentLimit(digitCount: number, point: number, precision: number | undefined): number {
  if (precision === undefined) return 6
  const wanted = precision || 1
  return wanted > digitCount && digitCount >= point ? digitCount : wanted
}

/** The fewest digits that tell this double from its neighbours: JavaScript and Go agree on them. */
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
  return { digits: trimLastSigns(mantissa.replace('.', ''), '0'), point: Number(exponent) + 1 }
}

/** The double's exact decimal value: BigDecimal would take the shortest text for it, and rounding must see the rest. */
function exactDecimal(value: number): InstanceType<typeof BigDecimal> {
  const { mantissa, exponent } = splitFloat(value)
  return new BigDecimal(mantissa.toString()).times(new BigDecimal(2).pow(exponent))
}
