import type { Scalar } from 'yaml'
import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { displayText } from '../go-format/display-text.js'
import { formatGoFloat } from '../go-format/float.js'
import { isArray } from '../shared/operands.js'
import { readPlainScalar } from './plain-scalar.js'

/** Digits that tell any two single-precision floats apart. */
const MAX_SINGLE_DIGITS = 9
const TAG = 'tag:yaml.org,2002:'
const RESOLVED_TAGS = new Set(['int', 'bool', 'null', 'merge'])

/** The value of a scalar node by its tag, or by its text when it is plain. Raises BuiltinError for infinities. */
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

/** Go yaml cuts a float down to single precision when it makes a key of it. */
function numberKeyText(number: RegoNumber): string {
  if (number.toBigInt() !== undefined && !number.text.includes('e')) return number.text
  const single = Math.fround(number.toNumber())
  for (let digits = 1; digits < MAX_SINGLE_DIGITS; digits++) {
    const rounded = Number(single.toPrecision(digits))
    if (Math.fround(rounded) === single) return formatGoFloat(rounded, 'g')
  }
  return formatGoFloat(Number(single.toPrecision(MAX_SINGLE_DIGITS)), 'g')
}

/** The text of a mapping key: JSON has no others. Raises BuiltinError for null and for collections. */
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
