import { RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BuiltinTable } from './shared/builtin.js'
import {
  booleanOperand,
  collectionOperand,
  objectOperand,
  operand,
  stringOperand,
  wrongType,
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
