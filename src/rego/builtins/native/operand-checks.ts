import type { BuiltinContext } from '../shared/builtin.js'
import { goInteger } from '../../values/go-integer.js'
import { RegoNumber, RegoSet, typeName } from '../../values/value.js'
import type { RegoTypeName, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray, wrongType } from '../shared/operands.js'

/** Throws BuiltinError if an operand is invalid. `index` counts from 0. */
export type OperandCheck = (
  value: RegoValue,
  index: number,
  args: readonly RegoValue[],
  context: BuiltinContext,
) => void

export const anything: OperandCheck = () => undefined
export const aString = oneOf('string')
export const aNumber = oneOf('number')
export const anArray = oneOf('array')
export const aSet = oneOf('set')
export const anObject = oneOf('object')

/** Accepts a number after a number, or a set after a set, for `minus`. */
export const likeTheFirst: OperandCheck = (value, index, [first]) => {
  if (first instanceof RegoSet) requireType(value, index, 'set')
  else requireType(value, index, 'number')
}

/** Accepts an array or set, with the message of `graph.reachable`. */
export const initialNodes: OperandCheck = (value, index) => {
  if (!isArray(value) && !(value instanceof RegoSet))
    raiseType(index, `must be {array, set} but got ${typeName(value)}`)
}

/** Accepts the given types; the error lists them in this order. */
export function oneOf(...types: readonly RegoTypeName[]): OperandCheck {
  return (value, index) => {
    if (!types.includes(typeName(value))) wrongType(index, value, ...types)
  }
}

/** Accepts a number that OPA reads as a Go int: plain digits. */
export const aGoInt: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (!(value instanceof RegoNumber) || goInteger(value.text) === undefined)
    raiseType(index, 'must be integer number but got floating-point number')
}

export const anInteger: OperandCheck = (value, index) => {
  if (!(value instanceof RegoNumber)) raiseType(index, `must be integer but got ${typeName(value)}`)
  if (!isIntegerText(value)) raiseType(index, 'must be integer number but got floating-point number')
}

/** Checks the type of a container's members. Other values are left to another check. */
export function membersOf(type: RegoTypeName): OperandCheck {
  return (value, index) => {
    const members = isArray(value) ? value : value instanceof RegoSet ? value.members : []
    const container = typeName(value)
    for (const member of members) {
      if (typeName(member) !== type)
        raiseType(
          index,
          `must be ${container} of ${type}s but got ${container} containing ${typeName(member)}`,
        )
    }
  }
}

/** Accepts paths into a document: strings, or arrays of segments. */
export const paths: OperandCheck = (value, index) => {
  requireType(value, index, 'set', 'array')
  for (const path of isArray(value) ? value : value instanceof RegoSet ? value.members : []) {
    if (typeof path !== 'string' && !isArray(path))
      raiseType(
        index,
        `must be one of {set, array} containing string paths or array of path segments but got ${typeName(path)}`,
      )
  }
}

/** Throws OPA's type error unless the operand has one of the types. */
export function requireType(value: RegoValue, index: number, ...types: readonly RegoTypeName[]): void {
  if (!types.includes(typeName(value))) wrongType(index, value, ...types)
}

/** Throws OPA's type error for an operand. */
export function raiseType(index: number, text: string): never {
  throw new BuiltinError(`operand ${index + 1} ${text}`, 'eval_type_error')
}

function isIntegerText(value: RegoValue): boolean {
  return value instanceof RegoNumber && /^-?\d+$/.test(value.text)
}
