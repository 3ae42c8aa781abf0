import { trimLastSigns } from '../../../lib/text/trim-signs.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { bitLength, isInteger, isSame, ofDecimal, requireCalculable, truncate } from './go-float.js'
import type { GoFloat } from './go-float.js'

/** `0.DIGITS * 10 ** point` */
interface Digits {
  readonly digits: string
  readonly point: number
}

const DIGITS_PER_BIT = Math.log10(2)
/** Of a fraction, zeros before the first digit aside. */
const FRACTION_DIGITS_PER_BIT = Math.log10(5)
/** Of how many digits each costs a step more to write, three times: V8 takes more than linear time. */
const DIGITS_PER_STEP = 500
/** One bit more than a number has: its last bit stands for half of the number's last. */
const BITS_WITH_HALF = 65
const DOUBLE_BITS = 53
/** As of Go's `%g` with the shortest text: outside of these, an exponent is written. */
const LEAST_PLAIN_EXPONENT = -4
const LEAST_LARGE_EXPONENT = 6

/**
 * The number with the fewest digits that name it, as OPA writes it: integers plain, others as Go's `%g`. Ends the evaluation when
 * it could not be read again. Of a number of 53 bits the digits are those that name it among such.
 */
export function goFloatToText(float: GoFloat, meter: WorkMeter, isDouble = false): string {
  if (float.mantissa === 0n) return '0'
  const bits = Math.abs(float.exponent)
  requireCalculable(bits * DIGITS_PER_BIT, meter)
  const written = bits * (float.exponent < 0 ? FRACTION_DIGITS_PER_BIT : DIGITS_PER_BIT)
  meter.spend((written * written) / DIGITS_PER_STEP)
  const sign = float.mantissa < 0n ? '-' : ''
  const magnitude = { ...float, mantissa: float.mantissa < 0n ? -float.mantissa : float.mantissa }
  const { digits, point } = shortest(magnitude, isDouble)
  if (isInteger(magnitude)) {
    const isExact = point <= digits.length
    return `${sign}${isExact ? truncate(magnitude).toString() : digits.padEnd(point, '0')}`
  }
  const exponent = point - 1
  if (exponent < LEAST_PLAIN_EXPONENT || exponent >= LEAST_LARGE_EXPONENT) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    const power = String(Math.abs(exponent)).padStart(2, '0')
    return `${sign}${digits.slice(0, 1)}${fraction}e${exponent < 0 ? '-' : '+'}${power}`
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  const fraction = digits.slice(point)
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}${fraction === '' ? '' : `.${fraction}`}`
}

/** The fewest digits that lie nearer to the number than to its neighbours of 64 bits, or of 53: of several such, Go does not take the nearest. */
function shortest(float: GoFloat, isDouble: boolean): Digits {
  return isDouble
    ? ofNeighbours(float, DOUBLE_BITS + 1)
    : (ofDouble(float) ?? ofNeighbours(float, BITS_WITH_HALF))
}

/**
 * The digits that name the nearest double, where they name the number itself: of up to 17 digits no two numbers lie so near to each other
 * that both name one of 64 bits, so that there are no fewer. Most decimal numbers that people write are found so.
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

/** How many digits are alike before the last of any. */
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
  return { digits: trimLastSigns(text, '0'), point: text.length + Math.min(0, exponent) }
}

/** Of two equally near ones the even one is taken. */
function isNearerAbove(digits: string, count: number): boolean {
  const next = digits[count] ?? '0'
  if (next === '5' && count + 1 === digits.length) return Number(digits[count - 1]) % 2 === 1
  return next >= '5'
}

function down({ digits, point }: Digits, count: number): Digits {
  return { digits: trimLastSigns(digits.slice(0, count), '0'), point }
}

function up({ digits, point }: Digits, count: number): Digits {
  const kept = trimLastSigns(digits.slice(0, count), '9')
  if (kept === '') return { digits: '1', point: point + 1 }
  return { digits: `${kept.slice(0, -1)}${Number(kept.at(-1)) + 1}`, point }
}
