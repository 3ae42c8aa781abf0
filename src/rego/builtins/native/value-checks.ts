import { RegoNumber, RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { compilePattern } from '../regex/compile.js'
import { raiseType, requireType } from './operand-checks.js'
import type { OperandCheck } from './operand-checks.js'

export const regexText: OperandCheck = (value, index, _args, { meter }) => {
  requireType(value, index, 'string')
  if (typeof value === 'string') compilePattern(value, meter)
}

export const searchText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (value === '') throw new BuiltinError('empty search character')
}

export const numberBase: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (!(value instanceof RegoNumber) || !['2', '8', '10', '16'].includes(value.text))
    raiseType(index, 'must be one of {2, 8, 10, 16}')
}

export const replacements: OperandCheck = (value, index) => {
  requireType(value, index, 'object')
  for (const [key, replacement] of value instanceof RegoObject ? value.entries : []) {
    if (typeof key !== 'string') raiseType(index, 'non-string key found in pattern object')
    if (typeof replacement !== 'string') raiseType(index, 'non-string value found in pattern object')
  }
}
