import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoNumber, typeName } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { collectionOperand, numberOperand, operand } from '../shared/operands.js'
import {
  add,
  bitLength,
  divide,
  exactInteger,
  goFloatToText,
  isInteger,
  multiply,
  parseGoFloat,
  requireCalculable,
  truncate,
} from './go-float.js'
import type { GoFloat } from './go-float.js'
import { raiseType } from './operand-checks.js'

const ZERO: GoFloat = { mantissa: 0n, exponent: 0 }
const NEGATIVE_ZERO = new RegoNumber('-0')
const ONE: GoFloat = { mantissa: 1n, exponent: 0 }
const [SMALL_BITS, WORD_BITS, BITS_PER_DIGIT] = [256, 64, 3.3]
const HALF: GoFloat = { mantissa: 1n, exponent: -1 }
/** A product that is not of integers only is kept in a double. */
const PRODUCT_BITS = 53

const negative = ({ mantissa, exponent }: GoFloat): GoFloat => ({ mantissa: -mantissa, exponent })

const abs = (a: GoFloat): GoFloat => (a.mantissa < 0n ? negative(a) : a)

/** OPA rounds values between -1 and 0 to 1. */
const ceil = (a: GoFloat): bigint => {
  const whole = truncate(a)
  return whole < 0n || isInteger(a) ? whole : whole + 1n
}

/** OPA rounds values between -1 and 0 to 0. */
const floor = (a: GoFloat): bigint => {
  const whole = truncate(a)
  return whole >= 0n || isInteger(a) ? whole : whole - 1n
}

/** Rounds halves away from zero. */
const roundHalves = (a: GoFloat): bigint => truncate(add(a, a.mantissa < 0n ? negative(HALF) : HALF))

const rem: Builtin = (args, { meter }) => {
  const [a, b] = [0, 1].map((index) => exactInteger(numberOperand(args, index).text, meter))
  if (a === undefined || b === undefined) throw new BuiltinError('modulo on floating-point number')
  if (b === 0n) throw new BuiltinError('modulo by zero')
  return RegoNumber.of(a % b)
}

const quotient = (a: GoFloat, b: GoFloat): GoFloat => {
  if (b.mantissa === 0n) throw new BuiltinError('divide by zero')
  return divide(a, b)
}

/** OPA's arithmetic: exact integers, else binary numbers of 64 bits in shortest form. */
export const arithmeticAnswers: BuiltinTable = {
  abs: (args, { meter }) => written(abs(floatAt(args, 0, meter)), meter),
  ceil: toInteger(ceil),
  div: ofTwo(quotient, undefined, true),
  floor: toInteger(floor),
  minus: ofTwo(
    (a, b) => add(a, negative(b)),
    (a, b) => a - b,
  ),
  mul: ofTwo(multiply, (a, b) => a * b, true),
  plus: ofTwo(add, (a, b) => a + b),
  product: ofAll(
    ONE,
    (a, b) => multiply(a, b, PRODUCT_BITS),
    (a, b) => a * b,
    true,
  ),
  rem,
  round: toInteger(roundHalves),
  sum: ofAll(ZERO, add, (a, b) => a + b),
}

function toInteger(operation: (a: GoFloat) => bigint): Builtin {
  return (args, { meter }) => RegoNumber.of(operation(floatAt(args, 0, meter)))
}

type OfFloats = (a: GoFloat, b: GoFloat) => GoFloat
type OfIntegers = (a: bigint, b: bigint) => bigint

function ofTwo(ofFloats: OfFloats, ofIntegers?: OfIntegers, isProduct = false): Builtin {
  return (args, { meter }) => {
    const numbers = [numberOperand(args, 0), numberOperand(args, 1)]
    const integers = ofIntegers && allIntegers(numbers, meter)
    const [a, b] = integers ?? []
    if (ofIntegers !== undefined && a !== undefined && b !== undefined) {
      payForProduct(a, b, meter)
      return RegoNumber.of(ofIntegers(a, b))
    }
    const float = ofFloats(floatAt(args, 0, meter), floatAt(args, 1, meter))
    return isProduct && isNegativeZero(float, numbers) ? NEGATIVE_ZERO : written(float, meter)
  }
}

/** A floating-point product or quotient of zero has a sign. */
function isNegativeZero({ mantissa }: GoFloat, factors: readonly RegoNumber[]): boolean {
  return mantissa === 0n && factors.filter(({ text }) => text.startsWith('-')).length % 2 === 1
}

/** A product of floats is kept in a double. */
function ofAll(first: GoFloat, ofFloats: OfFloats, ofIntegers: OfIntegers, isProduct = false): Builtin {
  return (args, { meter }) => {
    const members = collectionOperand(args, 0).flatMap((one) => (one instanceof RegoNumber ? [one] : []))
    const integers = allIntegers(members, meter)
    if (integers !== undefined) {
      const total = integers.reduce((sum, one) => {
        payForProduct(sum, one, meter)
        return ofIntegers(sum, one)
      }, truncate(first))
      return RegoNumber.of(total)
    }
    const total = members.reduce((sum, { text }) => ofFloats(sum, parseGoFloat(text, meter)), first)
    return isProduct && isNegativeZero(total, members) ? NEGATIVE_ZERO : written(total, meter, isProduct)
  }
}

/** Returns all numbers as exact integers; undefined if one is not an integer. */
function allIntegers(numbers: readonly RegoNumber[], meter: WorkMeter): bigint[] | undefined {
  const integers: bigint[] = []
  for (const { text } of numbers) {
    const integer = exactInteger(text, meter)
    if (integer === undefined) return undefined
    integers.push(integer)
  }
  return integers
}

/** Products of integers grow without limit; the cost is the product of their words. */
function payForProduct(a: bigint, b: bigint, meter: WorkMeter): void {
  const [left, right] = [bitLength(a), bitLength(b)]
  if (left + right <= SMALL_BITS) return
  requireCalculable((left + right) / BITS_PER_DIGIT, meter)
  meter.spend((left / WORD_BITS) * (right / WORD_BITS) + left + right)
  meter.reserve((left + right) / BITS_PER_DIGIT)
}

function floatAt(args: Parameters<Builtin>[0], index: number, meter: WorkMeter): GoFloat {
  return parseGoFloat(numberOperand(args, index).text, meter)
}

function written(float: GoFloat, meter: WorkMeter, isDouble = false): RegoNumber {
  return new RegoNumber(goFloatToText(float, meter, isDouble))
}

/** Maximum bits of a result; OPA itself has no limit. */
const MAX_BITS = 1_000_000n
const SHIFT_STEPS_PER_BIT = 0.1

type Operation = (a: bigint, b: bigint, meter: WorkMeter) => bigint

/** Two's complement, like JavaScript's BigInt. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'bits.and': (a, b) => a & b,
  'bits.lsh': (a, b, meter) => {
    const bits = unsigned(b)
    if (bits > MAX_BITS) meter.exceed(`a built-in returns a number of more than ${MAX_BITS} bits`)
    meter.spend(Number(bits) * SHIFT_STEPS_PER_BIT)
    return a << bits
  },
  'bits.or': (a, b) => a | b,
  'bits.rsh': (a, b) => a >> unsigned(b),
  'bits.xor': (a, b) => a ^ b,
}

const negate: Builtin = (args, { meter }) => RegoNumber.of(~integerAt(args, 0, meter))

/** The bit operations, for integers in other notations and beyond 64 bits. */
export const bitAnswers: BuiltinTable = {
  'bits.negate': negate,
  ...Object.fromEntries(Object.entries(OPERATIONS).map(([name, operation]) => [name, overTwo(operation)])),
}

function overTwo(operation: Operation): Builtin {
  return (args, { meter }) =>
    RegoNumber.of(operation(integerAt(args, 0, meter), integerAt(args, 1, meter), meter))
}

function integerAt(args: Parameters<Builtin>[0], index: number, meter: WorkMeter): bigint {
  const value = operand(args, index)
  if (!(value instanceof RegoNumber)) raiseType(index, `must be integer but got ${typeName(value)}`)
  return (
    exactInteger(value.text, meter) ??
    raiseType(index, 'must be integer number but got floating-point number')
  )
}

function unsigned(value: bigint): bigint {
  if (value < 0n) raiseType(1, 'must be an unsigned integer number but got a negative integer')
  return value
}
