import { goInteger } from '../../values/go-integer.js'
import { RegoNumber, RegoObject, RegoSet, typeName } from '../../values/value.js'
import type { RegoArray, RegoTypeName, RegoValue } from '../../values/value.js'
import { BuiltinError } from './builtin.js'

type Args = readonly RegoValue[]

/** Returns the operand at `index` (from 0) as a string. Throws OPA's type error otherwise. */
export function stringOperand(args: Args, index: number): string {
  const value = operand(args, index)
  return typeof value === 'string' ? value : wrongType(index, value, 'string')
}

export function booleanOperand(args: Args, index: number): boolean {
  const value = operand(args, index)
  return typeof value === 'boolean' ? value : wrongType(index, value, 'boolean')
}

export function numberOperand(args: Args, index: number): RegoNumber {
  const value = operand(args, index)
  return value instanceof RegoNumber ? value : wrongType(index, value, 'number')
}

export function integerOperand(args: Args, index: number): bigint {
  const integer = numberOperand(args, index).toBigInt()
  return integer ?? notAnInteger(index)
}

/**
 * Returns the operand at `index` as a signed 64-bit integer in digits, optionally with zeros after
 * a point. If OPA requires a Go int, it treats `1e3` and larger integers as floating-point numbers.
 */
export function int64Operand(args: Args, index: number): bigint {
  const number = numberOperand(args, index)
  return goInteger(number.text) ?? notAnInteger(index)
}

export function arrayOperand(args: Args, index: number): RegoArray {
  const value = operand(args, index)
  return isArray(value) ? value : wrongType(index, value, 'array')
}

export function objectOperand(args: Args, index: number): RegoObject {
  const value = operand(args, index)
  return value instanceof RegoObject ? value : wrongType(index, value, 'object')
}

/** Returns the members of an array or set at `index`, in order. */
export function collectionOperand(args: Args, index: number): RegoArray {
  const value = operand(args, index)
  if (isArray(value)) return value
  return value instanceof RegoSet ? value.members : wrongType(index, value, 'array', 'set')
}

export function operand(args: Args, index: number): RegoValue {
  const value = args[index]
  if (value === undefined) throw new BuiltinError(`operand ${index + 1} is missing`)
  return value
}

/** Narrows to an array; Array.isArray does not narrow readonly arrays. */
export function isArray(value: RegoValue): value is RegoArray {
  return Array.isArray(value)
}

/** Throws OPA's error: `operand 2 must be one of {array, set} but got string`. */
export function wrongType(index: number, got: RegoValue, ...wanted: readonly RegoTypeName[]): never {
  const want = wanted.length === 1 ? `${wanted[0]}` : `one of {${wanted.join(', ')}}`
  throw new BuiltinError(`operand ${index + 1} must be ${want} but got ${typeName(got)}`, 'eval_type_error')
}

function notAnInteger(index: number): never {
  throw new BuiltinError(
    `operand ${index + 1} must be integer number but got floating-point number`,
    'eval_type_error',
  )
}
