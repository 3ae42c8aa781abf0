import type fc from 'fast-check'

import type { RegoValue } from '../../../src/rego/values/value.js'
import * as t from './texts.js'
import * as v from './values.js'

/** A built-in of OPA's WASM runtime, and the types of its operands. */
export interface Signature {
  readonly name: string
  /** The call in Rego over the operands `a`, `b`, `c`. */
  readonly call: string
  readonly operands: readonly fc.Arbitrary<RegoValue>[]
}

type Operands = readonly fc.Arbitrary<RegoValue>[]

/** The names of the operands. */
export const LETTERS = ['a', 'b', 'c', 'd']

export function named(name: string, ...operands: Operands): Signature {
  return { name, call: `${name}(${LETTERS.slice(0, operands.length).join(', ')})`, operands }
}

/** Sets are made of arrays on the way in, since an input has none. */
export function written(name: string, call: string, ...operands: Operands): Signature {
  return { name, call, operands }
}

const SET_A = '{y | some y in a}'
const SET_B = '{y | some y in b}'
const SETS_A = '{z | some y in a; z := {w | some w in y}}'

/** All native built-ins of the runtime, with the operators. */
export const SIGNATURES: readonly Signature[] = [
  named('abs', v.number),
  written('and', `${SET_A} & ${SET_B}`, v.array, v.array),
  named('array.concat', v.array, v.array),
  named('array.reverse', v.array),
  named('array.slice', v.array, v.small, v.small),
  named('base64.decode', t.base64Text),
  named('base64.encode', t.text),
  named('base64.is_valid', t.base64Text),
  named('base64url.decode', t.base64Text),
  named('base64url.encode', t.text),
  named('bits.and', v.integer, v.integer),
  named('bits.lsh', v.integer, v.shift),
  named('bits.negate', v.integer),
  named('bits.or', v.integer, v.integer),
  named('bits.rsh', v.integer, v.shift),
  named('bits.xor', v.integer, v.integer),
  named('ceil', v.number),
  named('concat', t.part, v.texts),
  written('concat of a set', `concat(a, ${SET_B})`, t.part, v.texts),
  named('contains', t.text, t.part),
  named('count', v.value),
  named('endswith', t.text, t.part),
  written('equal', 'a == b', v.value, v.value),
  written('equal numbers', 'a == b', v.number, v.number),
  written('equal sums', 'a + b == c', v.number, v.number, v.number),
  written('neq', 'a != b', v.value, v.value),
  written('lt', 'a < b', v.value, v.value),
  written('lte', 'a <= b', v.number, v.number),
  written('gt', 'a > b', t.text, t.text),
  written('gte', 'a >= b', v.number, v.number),
  named('floor', v.number),
  named('format_int', v.number, v.small),
  named('glob.match', t.globPattern, v.delimiters, t.globText),
  named('graph.reachable', v.graph, v.texts),
  named('indexof', t.text, t.part),
  written('intersection', `intersection(${SETS_A})`, v.array),
  named('is_array', v.value),
  named('is_boolean', v.value),
  named('is_null', v.value),
  named('is_number', v.value),
  named('is_object', v.value),
  written('is_set', `is_set(${SET_A})`, v.array),
  named('is_string', v.value),
  named('json.filter', v.document, v.paths),
  named('json.is_valid', t.jsonText),
  // The order of keys differs: sets and objects have one of their own in the module.
  named('json.marshal', v.value),
  named('json.remove', v.document, v.paths),
  named('json.unmarshal', t.jsonText),
  named('lower', t.text),
  named('max', v.array),
  written('max of a set', `max(${SET_A})`, v.numbers),
  written('member', 'a in b', v.value, v.array),
  named('min', v.array),
  written('minus', 'a - b', v.number, v.number),
  written('difference', `${SET_A} - ${SET_B}`, v.array, v.array),
  written('mul', 'a * b', v.number, v.number),
  written('div', 'a / b', v.number, v.number),
  named('net.cidr_contains', t.cidr, t.cidr),
  named('net.cidr_intersects', t.cidr, t.cidr),
  named('numbers.range', v.rangeEnd, v.rangeEnd),
  written('object with keys of any kind', '{a: b, c: b}', v.value, v.number, v.value),
  written('object with keys of any kind as JSON', 'json.marshal({a: b, c: b})', v.value, v.number, v.value),
  named('object.filter', v.object, v.texts),
  named('object.get', v.object, t.part, v.value),
  written('object.get by path', 'object.get(a, b, c)', v.document, v.texts, v.value),
  named('object.keys', v.object),
  named('object.remove', v.object, v.texts),
  named('object.union', v.document, v.document),
  written('object.union_n', 'object.union_n([a, b])', v.document, v.document),
  named('object.union_n', v.array),
  written('or', `${SET_A} | ${SET_B}`, v.array, v.array),
  written('plus', 'a + b', v.number, v.number),
  written(
    'extremes and products with zeros',
    '[max([a, b]), min([a, b]), product([a, b]), sum([a, b])]',
    v.number,
    v.number,
  ),
  named('product', v.numbers),
  written('product of a set', `product(${SET_A})`, v.numbers),
  named('regex.find_all_string_submatch_n', t.regexPattern, t.text, v.small),
  named('regex.is_valid', t.regexPattern),
  named('regex.match', t.regexPattern, t.text),
  written('rem', 'a % b', v.integer, v.integer),
  named('replace', t.text, t.part, t.part),
  named('round', v.number),
  named('sort', v.array),
  written('sort of a set', `sort(${SET_A})`, v.array),
  named('split', t.text, t.part),
  named('startswith', t.text, t.part),
  named('strings.replace_n', v.replacements, t.text),
  named('strings.reverse', t.text),
  named('substring', t.text, v.small, v.small),
  named('sum', v.numbers),
  written('sum of a set', `sum(${SET_A})`, v.numbers),
  named('to_number', t.numberText),
  written('to_number of anything', 'to_number(a)', v.value),
  named('trim', t.text, t.part),
  named('trim_left', t.text, t.part),
  named('trim_prefix', t.text, t.part),
  named('trim_right', t.text, t.part),
  named('trim_space', t.text),
  named('trim_suffix', t.text, t.part),
  named('type_name', v.value),
  written('union', `union(${SETS_A})`, v.array),
  named('upper', t.text),
  written('walk', '{[p, x] | walk(a, [p, x])}', v.document),
]
