import type { WorkMeter } from '../metering/work-meter.js'
import { RegoNumber } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from './shared/builtin.js'
import { stringOperand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Quantities with decimal (`k`, `M`) and binary (`Ki`, `Mi`) units. */
export const unitBuiltins: BuiltinTable = {
  'units.parse': parseUnits,
  'units.parse_bytes': parseBytes,
}

const PREFIXES = ['k', 'm', 'g', 't', 'p', 'e']

/** `1.5Ki` is 1536, `100m` is a tenth: exact, with ten decimal places or an integer. */
function parseUnits(args: Args, { meter }: BuiltinContext): RegoValue {
  const { amount, unit } = splitAmount(stringOperand(args, 0), 'units.parse', 'no amount provided')
  const lowered = unit.slice(0, 1) + unit.slice(1).toLowerCase()
  const factor = lowered === 'm' ? MILLI : wholeFactor(factorOf(lowered.toLowerCase(), ['', 'i']))
  if (factor === undefined) throw new BuiltinError(`units.parse: unit ${lowered} not recognized`)
  const fraction = parseFraction(amount, meter)
  if (fraction === undefined) throw new BuiltinError('units.parse: could not parse amount to a number')
  const numerator = fraction.numerator * factor.numerator
  return new RegoNumber(decimalText(numerator, fraction.denominator * factor.denominator))
}

/** OPA uses the double nearest to a thousandth, so that `1000m` is `1.0000000000`. */
const MILLI: Fraction = { numerator: 1_152_921_504_606_847n, denominator: 2n ** 60n }

function wholeFactor(factor: bigint | undefined): Fraction | undefined {
  return factor === undefined ? undefined : { numerator: factor, denominator: 1n }
}

/** `1.5kb` is 1500, `1KiB` 1024, ignoring case. Fractions of a byte are truncated. */
function parseBytes(args: Args, { meter }: BuiltinContext): RegoValue {
  const { amount, unit } = splitAmount(stringOperand(args, 0), 'units.parse_bytes', 'no byte amount provided')
  const lowered = unit.toLowerCase()
  const factor = factorOf(lowered, ['', 'b', 'i', 'ib'])
  if (factor === undefined) throw new BuiltinError(`units.parse_bytes: byte unit ${lowered} not recognized`)
  const fraction = parseFraction(amount, meter)
  if (fraction === undefined)
    throw new BuiltinError('units.parse_bytes: could not parse byte amount to a number')
  // OPA calculates in extended precision, which matters from 2^64 on.
  const rounded = roundToExtended(magnitudeOf(fraction))
  const bytes = roundToExtended({ ...rounded, numerator: rounded.numerator * factor })
  const whole = bytes.numerator / bytes.denominator
  return RegoNumber.of(fraction.numerator < 0n ? -whole : whole)
}

/** Digits, points and signs, and `e` before one of these; else `e` is 10^18. */
const AMOUNT = /^(?:[\d.+-]|e[+-]|e(?=\d))*/i
const LONG_EXPONENT = /e[+-]?\d{7}/i

function splitAmount(text: string, name: string, noAmount: string): { amount: string; unit: string } {
  const unquoted = text.replaceAll('"', '')
  if (unquoted.includes(' ')) throw new BuiltinError(`${name}: spaces not allowed in resource strings`)
  const amount = AMOUNT.exec(unquoted)?.[0] ?? ''
  if (LONG_EXPONENT.test(amount)) throw new BuiltinError(`${name}: exponent too large`)
  if (amount === '') throw new BuiltinError(`${name}: ${noAmount}`)
  return { amount, unit: unquoted.slice(amount.length) }
}

/** Returns the factor of a unit in lower case. `suffixes` are those that may follow the prefix. */
function factorOf(unit: string, suffixes: readonly string[]): bigint | undefined {
  if (unit === '') return 1n
  const power = PREFIXES.indexOf(unit.charAt(0)) + 1
  const suffix = unit.slice(1)
  if (power === 0 || !suffixes.includes(suffix)) return undefined
  return (suffix.startsWith('i') ? 1024n : 1000n) ** BigInt(power)
}

function magnitudeOf(fraction: Fraction): Fraction {
  return fraction.numerator < 0n ? { ...fraction, numerator: -fraction.numerator } : fraction
}

const DECIMALS = 10

function decimalText(numerator: bigint, denominator: bigint): string {
  if (numerator < 0n) return `-${decimalText(-numerator, denominator)}`
  if (numerator % denominator === 0n) return (numerator / denominator).toString()
  const scaled = numerator * 10n ** BigInt(DECIMALS)
  // Rounds halves away from zero.
  const digits = ((2n * scaled + denominator) / (2n * denominator)).toString().padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}

/** The default mantissa of Go's big.Float. */
const MANTISSA_BITS = 64

/** Rounds to a 64-bit mantissa, ties to even; the denominator is a power of two. */
function roundToExtended({ numerator, denominator }: Fraction): Fraction {
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

/** Returns numerator × 2^shift / denominator as integers. */
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

/** An exact number. The denominator is positive. */
interface Fraction {
  readonly numerator: bigint
  readonly denominator: bigint
}

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i
/** Maximum digits of an amount. */
const MAX_DIGITS = 1000

/** Parses a decimal number such as `1.5e3`; undefined if it is invalid. */
function parseFraction(text: string, meter: WorkMeter): Fraction | undefined {
  const match = DECIMAL.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', decimals = '', exponentText = '0'] = match
  if (whole === '' && decimals === '') return undefined
  const exponent = Number(exponentText) - decimals.length
  if (whole.length + decimals.length > MAX_DIGITS || Math.abs(exponent) > MAX_DIGITS) {
    meter.exceed(`an amount has more than ${MAX_DIGITS} digits`)
  }
  const scale = 10n ** BigInt(Math.abs(exponent))
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${decimals}`)
  return exponent < 0
    ? { numerator: digits, denominator: scale }
    : { numerator: digits * scale, denominator: 1n }
}
