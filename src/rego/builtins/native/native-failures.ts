import { RegoNumber, RegoObject, RegoSet, identityKey } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { globMatch } from '../glob/glob.js'
import { networkAnswers } from '../net/net.js'
import { compilePattern } from '../regex/compile.js'
import { findMatches, isMatch } from '../regex/find-matches.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import {
  arrayOperand,
  int64Operand,
  operand,
  stringOperand,
  collectionOperand,
  isArray,
} from '../shared/operands.js'
import { arithmeticAnswers, bitAnswers } from './arithmetic-answers.js'
import { encodingAnswers } from './encoding-answers.js'
import {
  aGoInt,
  anArray,
  anInteger,
  anObject,
  aNumber,
  anything,
  aSet,
  aString,
  initialNodes,
  likeTheFirst,
  membersOf,
  oneOf,
  paths,
  raiseType,
  requireType,
} from './operand-checks.js'
import type { OperandCheck } from './operand-checks.js'
import { textAnswers } from './text-answers.js'

/** A tree of paths by segment identity: the segment and its subtree, null at an end. */
type Branches = Map<string, readonly [segment: RegoValue, next: Branches | null]>

const filter: Builtin = (args) => {
  return kept(operand(args, 0), treeOf(collectionOperand(args, 1)))
}

const remove: Builtin = (args) => without(operand(args, 0), treeOf(collectionOperand(args, 1)))

const pathAnswers: BuiltinTable = { 'json.filter': filter, 'json.remove': remove }

/** A path below the end of another is ignored; a path that ends above others replaces them. */
function treeOf(paths: readonly RegoValue[]): RegoObject {
  const root: Branches = new Map()
  for (const path of paths) insert(root, segmentsOf(path))
  return objectOf(root)
}

function insert(root: Branches, segments: readonly RegoValue[]): void {
  let node = root
  for (const [index, segment] of segments.entries()) {
    const key = identityKey(segment)
    if (index === segments.length - 1) {
      node.set(key, [segment, null])
      return
    }
    const [, next] = node.get(key) ?? [segment, new Map() satisfies Branches]
    if (next === null) return
    node.set(key, [segment, next])
    node = next
  }
}

function objectOf(branches: Branches): RegoObject {
  return new RegoObject(
    Array.from(branches.values(), ([key, next]) => [key, next === null ? null : objectOf(next)]),
  )
}

/** A string is a JSON pointer, with or without its first slash. */
function segmentsOf(path: RegoValue): readonly RegoValue[] {
  if (typeof path !== 'string') return isArray(path) ? path : []
  if (path === '') return []
  return path
    .replace(/^\/+/, '')
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the parts of a value that are in the tree; undefined if there are none. */
function kept(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === null) return value
  return tree instanceof RegoObject ? eachMember(value, tree, kept) : undefined
}

/** Returns a value without the parts in the tree; undefined if nothing is left. */
function without(value: RegoValue, tree: RegoValue | undefined): RegoValue | undefined {
  if (tree === undefined) return value
  return tree instanceof RegoObject ? eachMember(value, tree, without) : undefined
}

/** Rebuilds a container from its remaining members; scalars are unchanged. */
function eachMember(value: RegoValue, tree: RegoObject, leftOf: typeof kept): RegoValue {
  if (value instanceof RegoObject) {
    return new RegoObject(
      value.entries.flatMap(([key, member]) => {
        const left = leftOf(member, tree.get(key))
        return left === undefined ? [] : [[key, left] as const]
      }),
    )
  }
  if (value instanceof RegoSet) {
    return new RegoSet(value.members.flatMap((member) => definedOnly(leftOf(member, tree.get(member)))))
  }
  if (isArray(value))
    return value.flatMap((member, index) => definedOnly(leftOf(member, tree.get(String(index)))))
  return value
}

function definedOnly(value: RegoValue | undefined): RegoValue[] {
  return value === undefined ? [] : [value]
}

const regexText: OperandCheck = (value, index, _args, { meter }) => {
  requireType(value, index, 'string')
  if (typeof value === 'string') compilePattern(value, meter)
}

const searchText: OperandCheck = (value, index) => {
  requireType(value, index, 'string')
  if (value === '') throw new BuiltinError('empty search character')
}

const numberBase: OperandCheck = (value, index) => {
  requireType(value, index, 'number')
  if (!(value instanceof RegoNumber) || !['2', '8', '10', '16'].includes(value.text))
    raiseType(index, 'must be one of {2, 8, 10, 16}')
}

const replacements: OperandCheck = (value, index) => {
  requireType(value, index, 'object')
  for (const [key, replacement] of value instanceof RegoObject ? value.entries : []) {
    if (typeof key !== 'string') raiseType(index, 'non-string key found in pattern object')
    if (typeof replacement !== 'string') raiseType(index, 'non-string value found in pattern object')
  }
}

const numbers = both(oneOf('set', 'array'), membersOf('number'))
const keys = oneOf('object', 'set', 'array')
const collection = oneOf('set', 'array')

/** Checks for each operand of a native built-in, in order, with OPA's messages. */
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

const regexMatch: Builtin = (args, { meter }) =>
  isMatch(compilePattern(stringOperand(args, 0), meter), stringOperand(args, 1), meter)

const findAllSubmatches: Builtin = (args, { meter }) => {
  const regex = compilePattern(stringOperand(args, 0), meter)
  const text = stringOperand(args, 1)
  const limit = int64Operand(args, 2)
  const found: RegoValue[] = []
  if (limit === 0n) return found
  for (const match of findMatches(regex, text, meter)) {
    found.push(Array.from({ length: regex.groupCount() + 1 }, (_, group) => match.group(group)))
    if (BigInt(found.length) === limit) break
  }
  return found
}

/** The module returns no value for an empty array only. */
const unionOfNone: Builtin = (args) => (arrayOperand(args, 0).length === 0 ? new RegoObject([]) : undefined)

/**
 * OPA's results of native built-ins, for calls in which the module fails or differs (see
 * `wasm/native-builtins.ts`). The operands have been checked.
 */
const nativeAnswers: BuiltinTable = {
  ...arithmeticAnswers,
  ...bitAnswers,
  ...encodingAnswers,
  ...networkAnswers,
  ...pathAnswers,
  ...textAnswers,
  'glob.match': globMatch,
  'object.union_n': unionOfNone,
  'regex.match': regexMatch,
  'regex.find_all_string_submatch_n': findAllSubmatches,
}

/**
 * OPA's results of native built-ins: throws OPA's error for invalid operands, returns the value if
 * the module failed wrongly or would differ, else undefined. In the module a failing call is always
 * undefined, even under strict-builtin-errors.
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
