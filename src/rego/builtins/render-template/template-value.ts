import { RegoNumber, RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import type { GoArgument } from '../go-format/verbs.js'
import { formatGoFloat } from '../go-format/float.js'
import { isArray } from '../shared/operands.js'

/** A number of the template. Numbers of the data behave like strings, as in OPA. */
export class TemplateNumber {
  readonly value: bigint | number

  constructor(value: bigint | number) {
    this.value = value
  }
}

/** Undefined is Go's "no value". */
export type TemplateValue = RegoValue | TemplateNumber | undefined

/** Returns a value as an action prints it. */
export function printValue(value: TemplateValue): string {
  if (value === undefined || value === null) return '<no value>'
  if (value instanceof TemplateNumber) {
    return typeof value.value === 'bigint' ? value.value.toString() : formatGoFloat(value.value, 'g')
  }
  return printNested(value)
}

function printNested(value: RegoValue): string {
  if (value === null) return '<nil>'
  if (typeof value === 'string') return value
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoObject) {
    return `map[${value.entries.map(([key, item]) => `${printNested(key)}:${printNested(item)}`).join(' ')}]`
  }
  if (isArray(value)) return `[${value.map(printNested).join(' ')}]`
  return value === true ? 'true' : 'false'
}

/** Returns true unless the value is false, zero, missing or empty. */
export function isTrue(value: TemplateValue): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  if (value instanceof TemplateNumber) return Number(value.value) !== 0
  return lengthOf(value) !== 0
}

/** Returns the number of bytes or members; undefined for values without a length. */
export function lengthOf(value: TemplateValue): number | undefined {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (value instanceof RegoNumber) return value.text.length
  if (value instanceof RegoObject) return value.entries.length
  if (value === undefined || value instanceof TemplateNumber) return undefined
  return isArray(value) ? value.length : undefined
}

export function toGoArgument(value: TemplateValue): GoArgument {
  if (typeof value === 'boolean') return { type: 'bool', value }
  if (value instanceof RegoNumber) return { type: 'json.Number', value: value.text }
  if (!(value instanceof TemplateNumber)) return { type: goType(value), value: printValue(value) }
  return typeof value.value === 'bigint'
    ? { type: 'int', value: value.value }
    : { type: 'float64', value: value.value }
}

function goType(value: TemplateValue): 'string' | '[]interface {}' | 'map[string]interface {}' {
  if (value instanceof RegoObject) return 'map[string]interface {}'
  return Array.isArray(value) ? '[]interface {}' : 'string'
}
