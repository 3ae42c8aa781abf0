import { BACKSLASH, byteTable, skipRun } from '../../lib/json/scan/json-bytes.js'
import { isWellFormed } from '../../lib/json/scan/locate-value.js'
import type { WorkMeter } from '../metering/work-meter.js'
import { RegoNumber, RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { HostValues } from './host-values.js'

/** Runtime functions of built-ins that may return no value, with their names in Rego. */
export const NATIVE_BUILTINS: Readonly<Record<string, string>> = {
  builtin_graph_reachable: 'graph.reachable',
  builtin_json_filter: 'json.filter',
  builtin_json_remove: 'json.remove',
  builtin_object_filter: 'object.filter',
  builtin_object_get: 'object.get',
  builtin_object_keys: 'object.keys',
  builtin_object_remove: 'object.remove',
  builtin_object_union: 'object.union',
  builtin_object_union_n: 'object.union_n',
  opa_agg_count: 'count',
  opa_agg_max: 'max',
  opa_agg_min: 'min',
  opa_agg_product: 'product',
  opa_agg_sort: 'sort',
  opa_agg_sum: 'sum',
  opa_arith_abs: 'abs',
  opa_arith_ceil: 'ceil',
  opa_arith_divide: 'div',
  opa_arith_floor: 'floor',
  opa_arith_minus: 'minus',
  opa_arith_multiply: 'mul',
  opa_arith_plus: 'plus',
  opa_arith_rem: 'rem',
  opa_arith_round: 'round',
  opa_array_concat: 'array.concat',
  opa_array_flatten: 'array.flatten',
  opa_array_reverse: 'array.reverse',
  opa_array_slice: 'array.slice',
  opa_base64_decode: 'base64.decode',
  opa_base64_encode: 'base64.encode',
  opa_base64_is_valid: 'base64.is_valid',
  opa_base64_url_decode: 'base64url.decode',
  opa_base64_url_encode: 'base64url.encode',
  opa_bits_and: 'bits.and',
  opa_bits_negate: 'bits.negate',
  opa_bits_or: 'bits.or',
  opa_bits_shiftleft: 'bits.lsh',
  opa_bits_shiftright: 'bits.rsh',
  opa_bits_xor: 'bits.xor',
  opa_cidr_contains: 'net.cidr_contains',
  opa_cidr_intersects: 'net.cidr_intersects',
  opa_glob_match: 'glob.match',
  opa_json_is_valid: 'json.is_valid',
  opa_json_marshal: 'json.marshal',
  opa_json_unmarshal: 'json.unmarshal',
  opa_numbers_range: 'numbers.range',
  opa_regex_find_all_string_submatch: 'regex.find_all_string_submatch_n',
  opa_regex_is_valid: 'regex.is_valid',
  opa_regex_match: 'regex.match',
  opa_set_intersection: 'and',
  opa_set_union: 'or',
  opa_sets_intersection: 'intersection',
  opa_sets_union: 'union',
  opa_strings_concat: 'concat',
  opa_strings_contains: 'contains',
  opa_strings_endswith: 'endswith',
  opa_strings_format_int: 'format_int',
  opa_strings_indexof: 'indexof',
  opa_strings_lower: 'lower',
  opa_strings_replace: 'replace',
  opa_strings_replace_n: 'strings.replace_n',
  opa_strings_reverse: 'strings.reverse',
  opa_strings_split: 'split',
  opa_strings_startswith: 'startswith',
  opa_strings_substring: 'substring',
  opa_strings_trim: 'trim',
  opa_strings_trim_left: 'trim_left',
  opa_strings_trim_prefix: 'trim_prefix',
  opa_strings_trim_right: 'trim_right',
  opa_strings_trim_space: 'trim_space',
  opa_strings_trim_suffix: 'trim_suffix',
  opa_strings_upper: 'upper',
  opa_template_string: 'internal.template_string',
  opa_to_number: 'to_number',
}

/** Native built-ins that the host repeats when the module returned no value. */
export const RETRIED_BUILTINS: ReadonlySet<string> = new Set([
  'array.slice',
  'regex.find_all_string_submatch_n',
  'regex.match',
  'substring',
])

/** Returns true if the host has to answer. `operands` are the addresses of the operands. */
type Choice = (values: HostValues, operands: readonly number[], meter: WorkMeter) => boolean

/** Divisions of such integers without a remainder are exact in the module. */
const PLAIN_INTEGER = /^(?:-?[1-9]\d{0,14}|0)$/

const hasFraction: Choice = (values, [first = 0, second = 0], meter) => {
  const [dividend, divisor] = [values.shortInteger(first), values.shortInteger(second)]
  if (dividend !== undefined && divisor !== undefined) return !isPlainQuotient(dividend, divisor)
  const [a, b] = [values.read(first, meter), values.read(second, meter)]
  if (!(a instanceof RegoNumber) || !(b instanceof RegoNumber)) return false
  if (!PLAIN_INTEGER.test(a.text) || !PLAIN_INTEGER.test(b.text)) return true
  return !isPlainQuotient(Number(a.text), Number(b.text))
}

/** True for an integer quotient other than -0, which the module does not have. */
function isPlainQuotient(dividend: number, divisor: number): boolean {
  return divisor !== 0 && dividend % divisor === 0 && !Object.is(dividend / divisor, -0)
}

const hasDecimal: Choice = (values, operands) =>
  operands.some((address) => values.isNumber(address) && !values.isShortInteger(address))

/** Go accepts nested groups up to a depth of 1,000, counting repetitions. */
const SHALLOW_GROUPS = 300

/** True for patterns that C++'s RE2 may accept and Go's does not. */
const isAmbiguousPattern: Choice = (values, [address = 0], meter) => {
  const pattern = values.read(address, meter)
  return (
    typeof pattern === 'string' &&
    (pattern.includes('\\C') || (pattern.length > SHALLOW_GROUPS && countGroups(pattern) > SHALLOW_GROUPS))
  )
}

/** A negative limit means all matches; the module only knows -1. */
const isAmbiguousSearch: Choice = (values, operands, meter) => {
  const limit = values.read(operands[2] ?? 0, meter)
  return (
    (limit instanceof RegoNumber && limit.text.startsWith('-') && limit.text !== '-1') ||
    isAmbiguousPattern(values, operands, meter)
  )
}

/** Printable ASCII without backslashes: such JSON has no ambiguous characters. */
const PLAIN_BYTES = byteTable((byte) => byte >= 0x20 && byte < 0x7f && byte !== BACKSLASH)
const MAX_PLAIN_LENGTH = 16_384
const MAX_PLAIN_DEPTH = 100

/** The module accepts some malformed JSON. It reads plain JSON correctly. */
const isAmbiguousJson: Choice = (values, [address = 0], meter) => {
  const text = values.textBytes(address, meter)
  if (text === undefined || text.length > MAX_PLAIN_LENGTH) return true
  return skipRun(text, 0, PLAIN_BYTES) < text.length || !isWellFormed(text, MAX_PLAIN_DEPTH)
}

/** For a path without segments the module reads uninitialised memory. */
const hasEmptyPath: Choice = (values, [, address = 0], meter) => {
  const paths = values.read(address, meter)
  const list = paths instanceof RegoSet ? paths.members : Array.isArray(paths) ? paths : []
  return list.some((path: RegoValue) => path === '' || (Array.isArray(path) && path.length === 0))
}

const isEmptyArray: Choice = (values, [address = 0], meter) => {
  const value = values.read(address, meter)
  return Array.isArray(value) && value.length === 0
}

/** Native built-ins whose results differ from OPA's for some operands, with the test for these. */
const CHOICES: Readonly<Record<string, Choice>> = {
  abs: hasDecimal,
  'bits.and': hasDecimal,
  'bits.lsh': hasDecimal,
  'bits.negate': hasDecimal,
  'bits.or': hasDecimal,
  'bits.rsh': hasDecimal,
  'bits.xor': hasDecimal,
  ceil: hasDecimal,
  concat: (values, [, strings = 0]) => values.isSet(strings),
  div: hasFraction,
  floor: hasDecimal,
  indexof: (values, [, search = 0]) => values.isEmptyText(search),
  'json.filter': hasEmptyPath,
  'json.remove': hasEmptyPath,
  'object.union_n': isEmptyArray,
  'json.unmarshal': isAmbiguousJson,
  minus: hasDecimal,
  mul: hasDecimal,
  plus: hasDecimal,
  'regex.find_all_string_submatch_n': isAmbiguousSearch,
  'regex.match': isAmbiguousPattern,
  rem: hasDecimal,
  replace: (values, [, search = 0]) => values.isEmptyText(search),
  round: hasDecimal,
  sum: (values, [numbers = 0]) => !values.hasIntegersOnly(numbers),
  to_number: (values, [text = 0]) => !values.isIntegerText(text),
}

/** Native built-ins whose results in the module are not used. */
const ANSWERED_BY_HOST: ReadonlySet<string> = new Set([
  'base64.decode',
  'base64.is_valid',
  'base64url.decode',
  'format_int',
  'glob.match',
  'internal.template_string',
  'json.is_valid',
  'json.marshal',
  'net.cidr_contains',
  'net.cidr_intersects',
  // The module writes past the end of a product of about 570 digits, which corrupts this result and
  // maybe later ones.
  'product',
  'regex.is_valid',
  'strings.replace_n',
])

/** When the host answers a native built-in: always, or as `isForHost` decides. */
export type HostRole = 'always' | 'chosen'

/** Returns when the host answers a native built-in; undefined if its results equal OPA's. */
export function hostRoleOf(builtin: string): HostRole | undefined {
  if (ANSWERED_BY_HOST.has(builtin)) return 'always'
  return builtin in CHOICES ? 'chosen' : undefined
}

/** Returns true if the host answers a call that the module could answer itself. */
export function isForHost(
  builtin: string,
  values: HostValues,
  operands: readonly number[],
  meter: WorkMeter,
): boolean {
  return CHOICES[builtin]?.(values, operands, meter) ?? true
}

function countGroups(pattern: string): number {
  return pattern.split('(').length - 1
}
