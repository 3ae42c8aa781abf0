import { AppError } from '../../../errors/app-error.js'
import { trimTrailing } from '../../../lib/text/trim-characters.js'
import type { WorkMeter } from '../../metering/work-meter.js'

/** A binary number of at most 64 bits: `mantissa * 2 ** exponent`. */
export interface GoFloat {
  readonly mantissa: bigint
  readonly exponent: number
}

/** The default precision of Go's big.Float, which OPA uses. */
const PRECISION = 64
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
/** Maximum digits before or after the point; converting more fills the memory. */
const MAX_DIGITS = 20_000
/** Cost in evaluation steps per digit converted to binary, and digits that add one step to each. */
const DIGIT_STEPS = 4
const DIGITS_PER_STEP = 5000
const HEX_BITS = 4
/** Bits of 32 that a hexadecimal digit does not use. */
const UNUSED_BITS = 28
/** Precomputed, since most numbers have few digits. */
const POWERS_OF_TEN = Array.from({ length: 64 }, (_, exponent) => 10n ** BigInt(exponent))
/** Bits of a double's mantissa, and the layout of its exponent. */
const DOUBLE_BITS = 53
const [EXPONENT_SHIFT, EXPONENT_BIAS, BEYOND_DOUBLES] = [20, 1022, 2047]

/** Parses a JSON number like Go's big.Float, rounded to 64 bits. */
export function parseGoFloat(text: string, meter: WorkMeter): GoFloat {
  const [, sign = '', whole = '', fraction = '', written = '0'] = NUMBER.exec(text) ?? notANumber(text)
  const exponent = Number(written) - fraction.length
  const length = whole.length + fraction.length
  requireCalculable(length, meter)
  const digits = BigInt(`${whole}${fraction}`)
  if (digits === 0n) return { mantissa: 0n, exponent: 0 }
  requireCalculable(Math.abs(exponent), meter)
  const total = length + Math.abs(exponent)
  meter.spend(total * (DIGIT_STEPS + total / DIGITS_PER_STEP))
  return ofDecimal(sign === '-' ? -digits : digits, exponent)
}

/** Ends the evaluation. An unreadable number must not count as zero. */
function notANumber(text: string): never {
  throw new AppError('internal', `the number ${JSON.stringify(text)} of a policy module cannot be read`)
}

/** Returns `digits * 10 ** exponent`, rounded to 64 bits. */
function ofDecimal(digits: bigint, exponent: number): GoFloat {
  return exponent >= 0
    ? round(digits * powerOfTen(exponent), 0)
    : divide({ mantissa: digits, exponent: 0 }, { mantissa: powerOfTen(-exponent), exponent: 0 })
}

function powerOfTen(exponent: number): bigint {
  return POWERS_OF_TEN[exponent] ?? 10n ** BigInt(exponent)
}

export function isSame(a: GoFloat, b: GoFloat): boolean {
  const exponent = Math.min(a.exponent, b.exponent)
  return shifted(a, exponent) === shifted(b, exponent)
}

/** Ends the evaluation if a number has too many digits. */
export function requireCalculable(digits: number, meter: WorkMeter): void {
  if (digits > MAX_DIGITS) meter.exceed('a number is too large or too small for arithmetic')
}

export function divide(a: GoFloat, b: GoFloat): GoFloat {
  // Two more bits than are kept, and a last one for the remainder, so that ties are detected
  // correctly.
  const shift = Math.max(0, PRECISION + 2 + bitLength(b.mantissa) - bitLength(a.mantissa))
  const dividend = a.mantissa << BigInt(shift)
  const quotient = dividend / b.mantissa
  const isExact = quotient * b.mantissa === dividend
  const isNegative = dividend < 0n !== b.mantissa < 0n
  const sticky = isExact ? 0n : isNegative ? -1n : 1n
  return round(quotient * 2n + sticky, a.exponent - b.exponent - shift - 1)
}

export function add(a: GoFloat, b: GoFloat): GoFloat {
  const exponent = Math.min(a.exponent, b.exponent)
  return round(shifted(a, exponent) + shifted(b, exponent), exponent)
}

export function multiply(a: GoFloat, b: GoFloat, precision = PRECISION): GoFloat {
  return round(a.mantissa * b.mantissa, a.exponent + b.exponent, precision)
}

/** Rounds `mantissa * 2 ** exponent` to `precision` bits, ties to even. */
export function round(mantissa: bigint, exponent: number, precision = PRECISION): GoFloat {
  const excess = bitLength(mantissa) - precision
  if (excess <= 0) return { mantissa, exponent }
  const magnitude = mantissa < 0n ? -mantissa : mantissa
  const bits = BigInt(excess)
  const floor = magnitude >> bits
  const rest = magnitude - (floor << bits)
  const half = 1n << (bits - 1n)
  const isUp = rest > half || (rest === half && (floor & 1n) === 1n)
  const rounded = isUp ? floor + 1n : floor
  return { mantissa: mantissa < 0n ? -rounded : rounded, exponent: exponent + excess }
}

export function truncate({ mantissa, exponent }: GoFloat): bigint {
  if (exponent >= 0) return mantissa << BigInt(exponent)
  return mantissa / (1n << BigInt(-exponent))
}

export function isInteger({ mantissa, exponent }: GoFloat): boolean {
  return exponent >= 0 || mantissa % (1n << BigInt(-exponent)) === 0n
}

const double = new DataView(new ArrayBuffer(8))

export function bitLength(value: bigint): number {
  if (value === 0n) return 0
  const magnitude = value < 0n ? -value : value
  double.setFloat64(0, Number(magnitude))
  const exponent = double.getUint32(0) >>> EXPONENT_SHIFT
  if (exponent === BEYOND_DOUBLES) return countBits(magnitude)
  // A number with more bits than a double may have been rounded up to the next power of two.
  const bits = exponent - EXPONENT_BIAS
  return bits > DOUBLE_BITS && magnitude >> BigInt(bits - 1) === 0n ? bits - 1 : bits
}

function countBits(magnitude: bigint): number {
  const digits = magnitude.toString(16)
  return digits.length * HEX_BITS - (Math.clz32(Number.parseInt(digits.charAt(0), 16)) - UNUSED_BITS)
}

function shifted({ mantissa, exponent }: GoFloat, to: number): bigint {
  return mantissa << BigInt(exponent - to)
}

/** `0.DIGITS * 10 ** point` */
interface Digits {
  readonly digits: string
  readonly point: number
}

const DIGITS_PER_BIT = Math.log10(2)
/** For a fraction, without leading zeros. */
const FRACTION_DIGITS_PER_BIT = Math.log10(5)
/** Digits that add one step, times three, to each digit written. */
const WRITTEN_DIGITS_PER_STEP = 500
/** One bit more than a number has: half of the number's last bit. */
const BITS_WITH_HALF = 65
/** As Go's `%g` with the shortest text: other exponents are written in exponent form. */
const MIN_PLAIN_EXPONENT = -4
const MIN_LARGE_EXPONENT = 6

/**
 * Formats a number with the fewest digits that identify it, like OPA: integers plain, others as
 * Go's `%g`. Ends the evaluation if it could not be parsed again. `isDouble` uses the digits that
 * identify a number of 53 bits.
 */
export function goFloatToText(float: GoFloat, meter: WorkMeter, isDouble = false): string {
  if (float.mantissa === 0n) return '0'
  const bits = Math.abs(float.exponent)
  requireCalculable(bits * DIGITS_PER_BIT, meter)
  const written = bits * (float.exponent < 0 ? FRACTION_DIGITS_PER_BIT : DIGITS_PER_BIT)
  meter.spend((written * written) / WRITTEN_DIGITS_PER_STEP)
  const sign = float.mantissa < 0n ? '-' : ''
  const magnitude = { ...float, mantissa: float.mantissa < 0n ? -float.mantissa : float.mantissa }
  const { digits, point } = shortest(magnitude, isDouble)
  if (isInteger(magnitude)) {
    const isExact = point <= digits.length
    return `${sign}${isExact ? truncate(magnitude).toString() : digits.padEnd(point, '0')}`
  }
  const exponent = point - 1
  if (exponent < MIN_PLAIN_EXPONENT || exponent >= MIN_LARGE_EXPONENT) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    const power = String(Math.abs(exponent)).padStart(2, '0')
    return `${sign}${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${power}`
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  const fraction = digits.slice(point)
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * Returns the fewest digits that are closer to the number than to its neighbours of 64 or 53 bits.
 * If there are several, Go does not choose the closest.
 */
function shortest(float: GoFloat, isDouble: boolean): Digits {
  return isDouble
    ? ofNeighbours(float, DOUBLE_BITS + 1)
    : (ofDouble(float) ?? ofNeighbours(float, BITS_WITH_HALF))
}

/**
 * Returns the digits of the nearest double if they denote the number itself. Two numbers of up to
 * 17 digits never round to the same 64 bits, so these digits are the fewest. Most decimal numbers
 * in practice take this path.
 */
function ofDouble(float: GoFloat): Digits | undefined {
  const double = Number(float.mantissa) * 2 ** float.exponent
  if (!Number.isFinite(double) || double < Number.MIN_VALUE * 2 ** DOUBLE_BITS) return undefined
  const [written = '', power = ''] = double.toExponential().split('e')
  const digits = written.replace('.', '')
  const point = Number(power) + 1
  return isSame(ofDecimal(BigInt(digits), point - digits.length), float) ? { digits, point } : undefined
}

function ofNeighbours({ mantissa, exponent }: GoFloat, bits: number): Digits {
  const exact = digitsOf(mantissa, exponent)
  const shift = bits - bitLength(mantissa)
  const doubled = mantissa << BigInt(shift)
  const lower = digitsOf(doubled - 1n, exponent - shift).digits
  const upper = digitsOf(doubled + 1n, exponent - shift).digits
  const isEven = (doubled & 2n) === 0n
  for (let i = commonLength(exact.digits, lower, upper); i < exact.digits.length; i++) {
    const [digit, low, high] = [exact.digits, lower, upper].map((digits) => Number(digits[i] ?? '0'))
    const isDownFine = low !== digit || (isEven && i + 1 === lower.length)
    const isUpFine = digit !== high && (isEven || (digit ?? 0) + 1 < (high ?? 0) || i + 1 < upper.length)
    if (isDownFine && isUpFine)
      return isNearerAbove(exact.digits, i + 1) ? up(exact, i + 1) : down(exact, i + 1)
    if (isDownFine) return down(exact, i + 1)
    if (isUpFine) return up(exact, i + 1)
  }
  return exact
}

/** Returns the length of the common prefix, without the last digit of any. */
function commonLength(exact: string, lower: string, upper: string): number {
  const most = Math.min(exact.length, lower.length, upper.length) - 1
  let length = 0
  while (length < most && lower[length] === exact[length] && upper[length] === exact[length]) length++
  return length
}

function digitsOf(mantissa: bigint, exponent: number): Digits {
  const text =
    exponent >= 0
      ? (mantissa << BigInt(exponent)).toString()
      : (mantissa * 5n ** BigInt(-exponent)).toString()
  return { digits: trimTrailing(text, '0'), point: text.length + Math.min(0, exponent) }
}

/** Ties go to the even digit. */
function isNearerAbove(digits: string, count: number): boolean {
  const next = digits[count] ?? '0'
  if (next === '5' && count + 1 === digits.length) return Number(digits[count - 1]) % 2 === 1
  return next >= '5'
}

function down({ digits, point }: Digits, count: number): Digits {
  return { digits: trimTrailing(digits.slice(0, count), '0'), point }
}

function up({ digits, point }: Digits, count: number): Digits {
  const kept = trimTrailing(digits.slice(0, count), '9')
  if (kept === '') return { digits: '1', point: point + 1 }
  return { digits: `${kept.slice(0, -1)}${Number(kept.at(-1)) + 1}`, point }
}

const SHORT_INTEGER = /^-?\d{1,15}$/

/** Returns the integer of a text such as `1e30` or `2.50e1`; undefined for others. */
export function exactInteger(text: string, meter: WorkMeter): bigint | undefined {
  if (SHORT_INTEGER.test(text)) return BigInt(text)
  const [, sign = '', whole = '', fraction = '', written = '0'] = NUMBER.exec(text) ?? notANumber(text)
  const digits = trimTrailing(`${whole}${fraction}`, '0')
  if (digits === '' || /^0+$/.test(digits)) return 0n
  const exponent = Number(written) + whole.length - digits.length
  if (exponent < 0) return undefined
  requireCalculable(digits.length + exponent, meter)
  meter.spend(digits.length + exponent)
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent)
  return sign === '-' ? -magnitude : magnitude
}
