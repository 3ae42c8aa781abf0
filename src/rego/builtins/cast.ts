import { randomBytes } from 'node:crypto'
import { RegoSet, RegoNumber, typeName } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { BuiltinTable, BuiltinContext } from './shared/builtin.js'
import { memoise } from './shared/memoise.js'
import {
  booleanOperand,
  collectionOperand,
  objectOperand,
  operand,
  stringOperand,
  wrongType,
  int64Operand,
  integerOperand,
  numberOperand,
} from './shared/operands.js'

/** The deprecated casts of Rego v0: type assertions; arrays and sets convert into each other. */
export const castBuiltins: BuiltinTable = {
  cast_array: (args) => collectionOperand(args, 0),
  cast_set: (args) => new RegoSet(collectionOperand(args, 0)),
  cast_boolean: (args) => booleanOperand(args, 0),
  cast_string: (args) => stringOperand(args, 0),
  cast_object: (args) => objectOperand(args, 0),
  cast_null: castNull,
}

function castNull(args: readonly RegoValue[]): RegoValue {
  const value = operand(args, 0)
  return value === null ? null : wrongType(0, value, 'null')
}

type Args = readonly RegoValue[]

/** Steps and bytes per number of the result, and steps per digit of a long one. */
const NUMBER_STEPS = 45
const NUMBER_BYTES = 64
const DIGIT_STEPS = 0.5

/** `numbers.range_step` and `rand.intn`. */
export const numberBuiltins: BuiltinTable = {
  'numbers.range_step': rangeStep,
  'rand.intn': randomInteger,
}

/** Counts from the first to the second operand, both included if the step hits them. */
function rangeStep(args: Args, { meter }: BuiltinContext): RegoValue {
  const from = anyIntegerOperand(args, 0)
  const to = anyIntegerOperand(args, 1)
  const step = anyIntegerOperand(args, 2)
  if (step <= 0n) throw new BuiltinError('numbers.range_step: step must be a positive integer')
  const distance = to > from ? to - from : from - to
  const count = distance / step + 1n
  const digits = Math.max(numberOperand(args, 0).text.length, numberOperand(args, 1).text.length)
  meter.reserve(Number(count) * (NUMBER_BYTES + digits))
  meter.spend(Number(count) * (NUMBER_STEPS + (digits > 20 ? digits * DIGIT_STEPS * Math.sqrt(digits) : 0)))
  const signedStep = to > from ? step : -step
  return Array.from({ length: Number(count) }, (_, i) => RegoNumber.of(from + BigInt(i) * signedStep))
}

/** OPA has a separate type error for big integers. */
function anyIntegerOperand(args: Args, index: number): bigint {
  const value = operand(args, index)
  if (value instanceof RegoNumber) return integerOperand(args, index)
  throw new BuiltinError(`operand ${index + 1} must be integer but got ${typeName(value)}`, 'eval_type_error')
}

/** A random number below |n|, constant for the same arguments within a decision. */
function randomInteger(args: Args, context: BuiltinContext): RegoValue {
  stringOperand(args, 0)
  const n = int64Operand(args, 1)
  if (n === 0n) return RegoNumber.of(0)
  return memoise('rand.intn', args, context, () => RegoNumber.of(randomBelow(n < 0n ? -n : n)))
}

/** With 64 bits more than the bound, the bias of the remainder is negligible. */
function randomBelow(bound: bigint): bigint {
  return BigInt(`0x${randomBytes(16).toString('hex')}`) % bound
}
