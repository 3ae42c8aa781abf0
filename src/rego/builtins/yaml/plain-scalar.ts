import type { Scalar } from 'yaml'

import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { displayText } from '../go-format/display-text.js'
import { formatGoFloat } from '../go-format/float.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/** The value of a plain YAML scalar under Go yaml's rules (YAML 1.1 and parts of 1.2). */
export type PlainScalar =
  | { readonly kind: 'null' | 'merge' | 'timestamp' | 'text' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }

const WORDS = new Map<string, PlainScalar>([
  ...spellings('null', ['', '~', 'null', 'Null', 'NULL']),
  ...spellings('merge', ['<<']),
  ...['y', 'yes', 'true', 'on'].flatMap((word) => booleanSpellings(word, true)),
  ...['n', 'no', 'false', 'off'].flatMap((word) => booleanSpellings(word, false)),
  ...floatSpellings(['.nan', '.NaN', '.NAN'], NaN),
  ...floatSpellings(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], Infinity),
  ...floatSpellings(['-.inf', '-.Inf', '-.INF'], -Infinity),
])

const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const INTEGER = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/
const DATE = /^(\d{4})-(\d\d?)-(\d\d?)$/
const TIME = /^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]|[ \t]+)(\d\d?):(\d\d?):(\d\d?)(?:\.\d+)?(?:Z|[-+]\d\d:\d\d)?$/

/** Reads an unquoted scalar. Numbers may contain underscores. */
export function readPlainScalar(text: string): PlainScalar {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (!/^[-+.\d]/.test(text)) return { kind: 'text' }
  if (isTimestamp(text)) return { kind: 'timestamp' }
  return readNumber(text.replaceAll('_', '')) ?? { kind: 'text' }
}

function readNumber(text: string): PlainScalar | undefined {
  const integer = readInteger(text)
  if (integer !== undefined) return { kind: 'integer', value: integer }
  const value = FLOAT.test(text) ? Number(text) : NaN
  return Number.isFinite(value) ? { kind: 'float', value } : undefined
}

/** Reads a 64-bit integer in any base; undefined for larger ones, which are floats. */
function readInteger(text: string): bigint | undefined {
  const match = INTEGER.exec(text)
  if (match === null) return undefined
  const [, sign = '', hex, binary, octal, decimal = ''] = match
  const magnitude = BigInt(prefixed('0x', hex) ?? prefixed('0b', binary) ?? prefixed('0o', octal) ?? decimal)
  const value = sign === '-' ? -magnitude : magnitude
  const limit = sign === '+' ? 2n ** 63n : 2n ** 64n
  return value >= -(2n ** 63n) && value < limit ? value : undefined
}

function prefixed(prefix: string, digits: string | undefined): string | undefined {
  return digits === undefined ? undefined : prefix + digits
}

function isTimestamp(text: string): boolean {
  const match = DATE.exec(text) ?? TIME.exec(text)
  if (match === null) return false
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number)
  const date = new Date(Date.UTC(year, month - 1, day))
  return (
    date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60
  )
}

function spellings(kind: 'null' | 'merge', words: readonly string[]): [string, PlainScalar][] {
  return words.map((word) => [word, { kind }])
}

/** Returns a word in lower case, capitalised and in upper case. */
function booleanSpellings(word: string, value: boolean): [string, PlainScalar][] {
  const capital = word.charAt(0).toUpperCase() + word.slice(1)
  return [word, capital, word.toUpperCase()].map((spelling) => [spelling, { kind: 'boolean', value }])
}

function floatSpellings(words: readonly string[], value: number): [string, PlainScalar][] {
  return words.map((word) => [word, { kind: 'float', value }])
}

/** Digits that identify a single-precision float. */
const MAX_SINGLE_DIGITS = 9
const TAG = 'tag:yaml.org,2002:'
const RESOLVED_TAGS = new Set(['int', 'bool', 'null', 'merge'])

/** Returns the value of a scalar node. Throws BuiltinError for infinities. */
export function readScalar(node: Scalar): RegoValue {
  const text = typeof node.value === 'string' ? node.value : (node.source ?? '')
  const tag = node.tag?.startsWith(TAG) === true ? node.tag.slice(TAG.length) : node.tag
  if (tag === 'binary') return Buffer.from(text, 'base64').toString('utf8')
  if (tag === 'str' || (tag === undefined && node.type !== 'PLAIN')) return text
  if (tag === 'float') return floatOf(Number(text))
  return tag === undefined || RESOLVED_TAGS.has(tag) ? plainValue(text) : text
}

function plainValue(text: string): RegoValue {
  const scalar = readPlainScalar(text)
  switch (scalar.kind) {
    case 'null':
      return null
    case 'boolean':
      return scalar.value
    case 'integer':
      return RegoNumber.of(scalar.value)
    case 'float':
      return floatOf(scalar.value)
    case 'merge':
    case 'timestamp':
    case 'text':
      return text
  }
}

function floatOf(value: number): RegoNumber {
  if (Number.isNaN(value)) throw new BuiltinError('json: unsupported value: NaN')
  if (!Number.isFinite(value)) throw new BuiltinError(`json: unsupported value: ${value > 0 ? '+' : '-'}Inf`)
  return Object.is(value, -0) ? new RegoNumber('-0') : RegoNumber.of(value)
}

/** Go yaml reduces a float to single precision for a key. */
function numberKeyText(number: RegoNumber): string {
  if (number.toBigInt() !== undefined && !number.text.includes('e')) return number.text
  const single = Math.fround(number.toNumber())
  for (let digits = 1; digits < MAX_SINGLE_DIGITS; digits++) {
    const rounded = Number(single.toPrecision(digits))
    if (Math.fround(rounded) === single) return formatGoFloat(rounded, 'g')
  }
  return formatGoFloat(Number(single.toPrecision(MAX_SINGLE_DIGITS)), 'g')
}

/** Returns the text of a mapping key. Throws BuiltinError for null and collections. */
export function keyText(key: RegoValue, value: RegoValue): string {
  if (typeof key === 'string') return key
  if (typeof key === 'boolean') return String(key)
  if (key instanceof RegoNumber) return numberKeyText(key)
  if (key === null) {
    throw new BuiltinError(
      `unsupported map key of type: %!s(<nil>), key: <nil>, value: ${displayText(value)}`,
    )
  }
  const kind = key instanceof RegoObject ? 'map[interface {}]interface {}' : '[]interface {}'
  const inner = isArray(key) ? key.map(displayText).join(', ') : displayText(key).slice(1, -1)
  throw new BuiltinError(`yaml: invalid map key: ${kind}{${inner}}`)
}
