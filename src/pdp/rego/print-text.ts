import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoValue } from './value.js'

/** Rego's compact text of a value, as `opa_value_parse` of a module reads it: sets are `{1,2}` and `set()`. */
export function printRegoText(value: RegoValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoSet) {
    return value.members.length === 0 ? 'set()' : `{${value.members.map(printRegoText).join(',')}}`
  }
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([k, v]) => `${printRegoText(k)}:${printRegoText(v)}`).join(',')}}`
  }
  return `[${value.map(printRegoText).join(',')}]`
}

/**
 * The value as compact JSON: sets as arrays in Rego order, keys sorted, number texts kept. A key that is no string
 * becomes its own JSON text, as in OPA's answers.
 */
export function printJson(value: RegoValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoSet) return `[${value.members.map(printJson).join(',')}]`
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([k, v]) => `${printJsonKey(k)}:${printJson(v)}`).join(',')}}`
  }
  return `[${value.map(printJson).join(',')}]`
}

function printJsonKey(key: RegoValue): string {
  return typeof key === 'string' ? JSON.stringify(key) : JSON.stringify(printJson(key))
}
