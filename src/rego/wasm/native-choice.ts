import { BACKSLASH, byteTable, skipRun } from '../../lib/json/scan/json-bytes.js'
import { isWellFormed } from '../../lib/json/scan/locate-value.js'
import { RegoNumber, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { EvaluationBudget } from './evaluation-budget.js'
import type { HostValues } from './host-values.js'

/** Reads operands by index, from 0. */
export interface OperandReader {
  readonly value: (index: number) => RegoValue
  /** True for an array of 64-bit integers only. */
  readonly hasIntegersOnly: (index: number) => boolean
  /** True for a 64-bit integer or a number of a few digits. */
  readonly isShortInteger: (index: number) => boolean
  /** True for a string of a few digits that is an integer in Rego's notation. */
  readonly isIntegerText: (index: number) => boolean
  /** An integer of at most 15 digits; undefined for any other value or if the layout is unknown. */
  readonly shortInteger: (index: number) => number | undefined
  /** The bytes of a string; undefined for any other value or if the layout is unknown. */
  readonly bytes: (index: number) => Uint8Array | undefined
  readonly isNumber: (index: number) => boolean
  readonly isSet: (index: number) => boolean
  readonly isEmptyText: (index: number) => boolean
}

/** Returns true if the host has to answer. */
type Choice = (operand: OperandReader) => boolean

/** Divisions of such integers without a remainder are exact in the module. */
const PLAIN_INTEGER = /^(?:-?[1-9]\d{0,14}|0)$/

const isBroken: Choice = (operand) => {
  const [dividend, divisor] = [operand.shortInteger(0), operand.shortInteger(1)]
  if (dividend !== undefined && divisor !== undefined) return !isPlainQuotient(dividend, divisor)
  const [a, b] = [operand.value(0), operand.value(1)]
  if (!(a instanceof RegoNumber) || !(b instanceof RegoNumber)) return false
  if (!PLAIN_INTEGER.test(a.text) || !PLAIN_INTEGER.test(b.text)) return true
  return !isPlainQuotient(Number(a.text), Number(b.text))
}

/** True for an integer quotient other than -0, which the module does not have. */
function isPlainQuotient(dividend: number, divisor: number): boolean {
  return divisor !== 0 && dividend % divisor === 0 && !Object.is(dividend / divisor, -0)
}

const isDecimal =
  (operands: number): Choice =>
  (operand) => {
    for (let index = 0; index < operands; index++)
      if (operand.isNumber(index) && !operand.isShortInteger(index)) return true
    return false
  }

const hasDecimals: Choice = (operand) => !operand.hasIntegersOnly(0)

/** Go accepts nested groups up to a depth of 1,000, counting repetitions. */
const SHALLOW_GROUPS = 300

/** True for patterns that C++'s RE2 may accept and Go's does not. */
const isAmbiguousPattern: Choice = (operand) => {
  const pattern = operand.value(0)
  return (
    typeof pattern === 'string' &&
    (pattern.includes('\\C') || (pattern.length > SHALLOW_GROUPS && countGroups(pattern) > SHALLOW_GROUPS))
  )
}

/** A negative limit means all matches; the module only knows -1. */
const isAmbiguousSearch: Choice = (operand) => {
  const limit = operand.value(2)
  return (
    (limit instanceof RegoNumber && limit.text.startsWith('-') && limit.text !== '-1') ||
    isAmbiguousPattern(operand)
  )
}

/** Printable ASCII without backslashes: such JSON has no ambiguous characters. */
const PLAIN_BYTES = byteTable((byte) => byte >= 0x20 && byte < 0x7f && byte !== BACKSLASH)
const MAX_PLAIN_LENGTH = 16_384
const MAX_PLAIN_DEPTH = 100

/** The module accepts some malformed JSON. It reads plain JSON correctly. */
const isAmbiguousJson: Choice = (operand) => {
  const text = operand.bytes(0)
  if (text === undefined || text.length > MAX_PLAIN_LENGTH) return true
  return skipRun(text, 0, PLAIN_BYTES) < text.length || !isWellFormed(text, MAX_PLAIN_DEPTH)
}

/** For a path without segments the module reads uninitialised memory. */
const hasEmptyPath: Choice = (operand) => {
  const paths = operand.value(1)
  const list = paths instanceof RegoSet ? paths.members : Array.isArray(paths) ? paths : []
  return list.some((path: RegoValue) => path === '' || (Array.isArray(path) && path.length === 0))
}

const isEmptyArray: Choice = (operand) => {
  const value = operand.value(0)
  return Array.isArray(value) && value.length === 0
}

/** When the host answers calls of native built-ins that are `chosen` in `native-builtins.ts`. */
const CHOICES: Readonly<Record<string, Choice>> = {
  abs: isDecimal(1),
  'bits.and': isDecimal(2),
  'bits.lsh': isDecimal(2),
  'bits.negate': isDecimal(1),
  'bits.or': isDecimal(2),
  'bits.rsh': isDecimal(2),
  'bits.xor': isDecimal(2),
  ceil: isDecimal(1),
  concat: (operand) => operand.isSet(1),
  div: isBroken,
  floor: isDecimal(1),
  indexof: (operand) => operand.isEmptyText(1),
  'json.filter': hasEmptyPath,
  'json.remove': hasEmptyPath,
  'object.union_n': isEmptyArray,
  'json.unmarshal': isAmbiguousJson,
  minus: isDecimal(2),
  mul: isDecimal(2),
  plus: isDecimal(2),
  'regex.find_all_string_submatch_n': isAmbiguousSearch,
  'regex.match': isAmbiguousPattern,
  rem: isDecimal(2),
  replace: (operand) => operand.isEmptyText(1),
  round: isDecimal(1),
  sum: hasDecimals,
  to_number: (operand) => !operand.isIntegerText(0),
}

/** Returns true if the host answers a call that the module could answer itself. */
export function isForHost(builtin: string, operand: OperandReader): boolean {
  return CHOICES[builtin]?.(operand) ?? true
}

function countGroups(pattern: string): number {
  return pattern.split('(').length - 1
}

/** Returns a reader of the operands at these addresses. Each operand is read on access. */
export function readerOf(
  operands: readonly number[],
  values: HostValues,
  budget: EvaluationBudget,
  read: (address: number) => RegoValue,
): OperandReader {
  const address = (index: number): number => operands[index] ?? 0
  return {
    value: (index) => read(address(index)),
    hasIntegersOnly: (index) => values.hasIntegersOnly(address(index)),
    isShortInteger: (index) => values.isShortInteger(address(index)),
    isIntegerText: (index) => values.isIntegerText(address(index)),
    shortInteger: (index) => values.shortInteger(address(index)),
    bytes: (index) => values.textBytes(address(index), budget),
    isNumber: (index) => values.isNumber(address(index)),
    isSet: (index) => values.isSet(address(index)),
    isEmptyText: (index) => values.isEmptyText(address(index)),
  }
}
