import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { operand } from '../shared/operands.js'
import {
  aGoInt,
  aNumber,
  aSet,
  aString,
  anArray,
  anInteger,
  anObject,
  anything,
  initialNodes,
  likeTheFirst,
  membersOf,
  oneOf,
  paths,
} from './operand-checks.js'
import type { OperandCheck } from './operand-checks.js'
import { nativeAnswers } from './native-answers.js'
import { numberBase, regexText, replacements, searchText } from './value-checks.js'

const numbers = both(oneOf('set', 'array'), membersOf('number'))
const keys = oneOf('object', 'set', 'array')
const collection = oneOf('set', 'array')

/** What each operand of a native built-in must be, checked in order, in OPA's words. */
const OPERANDS: Readonly<Record<string, readonly OperandCheck[]>> = {
  abs: [aNumber],
  and: [aSet, aSet],
  'array.concat': [anArray, anArray],
  'array.flatten': [anArray],
  'array.reverse': [anArray],
  'array.slice': [anArray, aGoInt, aGoInt],
  'base64.decode': [aString],
  'base64.encode': [aString],
  'base64.is_valid': [anything],
  'base64url.decode': [aString],
  'base64url.encode': [aString],
  'bits.and': [anything, anything],
  'bits.lsh': [anything, anything],
  'bits.negate': [anything],
  'bits.or': [anything, anything],
  'bits.rsh': [anything, anything],
  'bits.xor': [anything, anything],
  ceil: [aNumber],
  concat: [aString, both(collection, membersOf('string'))],
  contains: [aString, aString],
  count: [oneOf('array', 'object', 'set', 'string')],
  div: [aNumber, aNumber],
  endswith: [aString, aString],
  floor: [aNumber],
  format_int: [aNumber, numberBase],
  'glob.match': [aString, both(oneOf('array', 'null'), membersOf('string')), aString],
  'graph.reachable': [anObject, initialNodes],
  indexof: [aString, searchText],
  'internal.template_string': [anArray],
  intersection: [both(aSet, membersOf('set'))],
  'json.filter': [anObject, paths],
  'json.is_valid': [anything],
  'json.marshal': [anything],
  'json.remove': [anObject, paths],
  'json.unmarshal': [aString],
  lower: [aString],
  max: [collection],
  min: [collection],
  minus: [oneOf('number', 'set'), likeTheFirst],
  mul: [aNumber, aNumber],
  'net.cidr_contains': [aString, aString],
  'net.cidr_intersects': [aString, aString],
  'numbers.range': [anInteger, anInteger],
  'object.filter': [anObject, keys],
  'object.get': [anObject, anything, anything],
  'object.keys': [anObject],
  'object.remove': [anObject, keys],
  'object.union': [anObject, anObject],
  'object.union_n': [both(anArray, membersOf('object'))],
  or: [aSet, aSet],
  plus: [aNumber, aNumber],
  product: [numbers],
  'regex.find_all_string_submatch_n': [regexText, aString, aGoInt],
  'regex.match': [regexText, aString],
  rem: [aNumber, aNumber],
  replace: [aString, aString, aString],
  round: [aNumber],
  sort: [collection],
  split: [aString, aString],
  startswith: [aString, aString],
  'strings.replace_n': [replacements, aString],
  'strings.reverse': [aString],
  substring: [aString, aGoInt, anything],
  sum: [numbers],
  to_number: [oneOf('null', 'boolean', 'number', 'string')],
  trim: [aString, aString],
  trim_left: [aString, aString],
  trim_prefix: [aString, aString],
  trim_right: [aString, aString],
  trim_space: [aString],
  trim_suffix: [aString, aString],
  union: [both(aSet, membersOf('set'))],
  upper: [aString],
}

/**
 * What OPA answers to a call of a native built-in of the module: raises what OPA raises for the operands, gives the value where the
 * module gave up too early or would give another, or gives undefined. The module itself makes every call that fails undefined, also
 * under strict-builtin-errors.
 */
export const nativeFailures: BuiltinTable = Object.fromEntries(
  Object.entries(OPERANDS).map(([name, checks]) => [name, checkOperands(checks, nativeAnswers[name])]),
)

function checkOperands(checks: readonly OperandCheck[], answer: Builtin | undefined): Builtin {
  return (args, context) => {
    for (let index = 0; index < checks.length; index++)
      checks[index]?.(operand(args, index), index, args, context)
    return answer?.(args, context)
  }
}

function both(first: OperandCheck, second: OperandCheck): OperandCheck {
  return (value, index, args, context) => {
    first(value, index, args, context)
    second(value, index, args, context)
  }
}
