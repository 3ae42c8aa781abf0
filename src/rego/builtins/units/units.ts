import { RegoNumber } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../shared/builtin.js'
import { stringOperand } from '../shared/operands.js'
import { roundToExtended } from './extended-float.js'
import { parseFraction } from './fraction.js'
import type { Fraction } from './fraction.js'

type Args = readonly RegoValue[]

/** Amounts with decimal (`k`, `M`) and binary (`Ki`, `Mi`) units. */
export const unitBuiltins: BuiltinTable = {
  'units.parse': parseUnits,
  'units.parse_bytes': parseBytes,
}

const PREFIXES = ['k', 'm', 'g', 't', 'p', 'e']

/** `1.5Ki` is 1536, `100m` is a tenth: exact, with ten decimal places unless the result is whole. */
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

/** OPA takes the double nearest to a thousandth at its word, so that `1000m` is `1.0000000000`. */
const MILLI: Fraction = { numerator: 1_152_921_504_606_847n, denominator: 2n ** 60n }

function wholeFactor(factor: bigint | undefined): Fraction | undefined {
  return factor === undefined ? undefined : { numerator: factor, denominator: 1n }
}

/** `1.5kb` is 1500, `1KiB` 1024, whatever the case of letters; parts of a byte are cut. */
function parseBytes(args: Args, { meter }: BuiltinContext): RegoValue {
  const { amount, unit } = splitAmount(stringOperand(args, 0), 'units.parse_bytes', 'no byte amount provided')
  const lowered = unit.toLowerCase()
  const factor = factorOf(lowered, ['', 'b', 'i', 'ib'])
  if (factor === undefined) throw new BuiltinError(`units.parse_bytes: byte unit ${lowered} not recognized`)
  const fraction = parseFraction(amount, meter)
  if (fraction === undefined)
    throw new BuiltinError('units.parse_bytes: could not parse byte amount to a number')
  // OPA calculates in extended precision, which shows from 2^64 on.
  const rounded = roundToExtended(magnitudeOf(fraction))
  const bytes = roundToExtended({ ...rounded, numerator: rounded.numerator * factor })
  const whole = bytes.numerator / bytes.denominator
  return RegoNumber.of(fraction.numerator < 0n ? -whole : whole)
}

/** Digits, points and signs, and an `e` before a digit or a sign; before anything else it is the unit of 10^18. */
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

/** What a unit in lower case multiplies by; the suffixes are those that the caller lets follow the prefix. */
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
  // Halves go away from zero.
  const digits = ((2n * scaled + denominator) / (2n * denominator)).toString().padStart(DECIMALS + 1, '0')
  return `${digits.slice(0, -DECIMALS)}.${digits.slice(-DECIMALS)}`
}
