import { RegoNumber } from '../../rego/value.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { collectionOperand, numberOperand } from '../shared/operands.js'
import { add, divide, isInteger, multiply, parseGoFloat, truncate } from './go-float.js'
import type { GoFloat } from './go-float.js'
import { goFloatToText } from './go-float-digits.js'

const ZERO: GoFloat = { mantissa: 0n, exponent: 0 }
const ONE: GoFloat = { mantissa: 1n, exponent: 0 }
const HALF: GoFloat = { mantissa: 1n, exponent: -1 }
const LOW_BITS = 64

const negative = ({ mantissa, exponent }: GoFloat): GoFloat => ({ mantissa: -mantissa, exponent })

const abs = (a: GoFloat): GoFloat => (a.mantissa < 0n ? negative(a) : a)

/** OPA takes what is between -1 and 0 for positive: 1. */
const ceil = (a: GoFloat): bigint => {
  const whole = truncate(a)
  return whole < 0n || isInteger(a) ? whole : whole + 1n
}

/** And 0 here. */
const floor = (a: GoFloat): bigint => {
  const whole = truncate(a)
  return whole >= 0n || isInteger(a) ? whole : whole - 1n
}

/** Halves away from zero. */
const roundHalves = (a: GoFloat): bigint => truncate(add(a, a.mantissa < 0n ? negative(HALF) : HALF))

const rem: Builtin = (args, { meter }) => {
  const [a, b] = [floatAt(args, 0, meter), floatAt(args, 1, meter)]
  if (!isInteger(a) || !isInteger(b)) throw new BuiltinError('modulo on floating-point number')
  // OPA looks at the low bits alone.
  if (BigInt.asIntN(LOW_BITS, truncate(b)) === 0n) throw new BuiltinError('modulo by zero')
  return RegoNumber.of(truncate(a) % truncate(b))
}

const quotient = (a: GoFloat, b: GoFloat): GoFloat => {
  if (b.mantissa === 0n) throw new BuiltinError('divide by zero')
  return divide(a, b)
}

/** Arithmetic as OPA's: binary numbers of 64 bits, written with the fewest digits that name them. */
export const arithmeticAnswers: BuiltinTable = {
  abs: (args, { meter }) => written(abs(floatAt(args, 0, meter)), meter),
  ceil: toInteger(ceil),
  div: ofTwo(quotient),
  floor: toInteger(floor),
  minus: ofTwo((a, b) => add(a, negative(b))),
  mul: ofTwo(multiply),
  plus: ofTwo(add),
  product: ofAll(ONE, multiply),
  rem,
  round: toInteger(roundHalves),
  sum: ofAll(ZERO, add),
}

function toInteger(operation: (a: GoFloat) => bigint): Builtin {
  return (args, { meter }) => RegoNumber.of(operation(floatAt(args, 0, meter)))
}

function ofTwo(operation: (a: GoFloat, b: GoFloat) => GoFloat): Builtin {
  return (args, { meter }) => written(operation(floatAt(args, 0, meter), floatAt(args, 1, meter)), meter)
}

function ofAll(first: GoFloat, operation: (a: GoFloat, b: GoFloat) => GoFloat): Builtin {
  return (args, { meter }) => {
    const members = collectionOperand(args, 0).flatMap((one) => (one instanceof RegoNumber ? [one] : []))
    const total = members.reduce((sum, { text }) => operation(sum, parseGoFloat(text, meter)), first)
    return written(total, meter)
  }
}

function floatAt(args: Parameters<Builtin>[0], index: number, meter: WorkMeter): GoFloat {
  return parseGoFloat(numberOperand(args, index).text, meter)
}

function written(float: GoFloat, meter: WorkMeter): RegoNumber {
  return new RegoNumber(goFloatToText(float, meter))
}
