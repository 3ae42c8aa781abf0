import { goJsonString } from '../../lib/json/text/escape.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoArray, RegoValue } from './value.js'

/**
 * Property of a lazy container with a function that returns the result of `printGoJson` without
 * reading the container.
 */
export const PRINT_GO_JSON: unique symbol = Symbol('print as Go does')

const PLAIN_SCALAR = /^(?:true|false|null|-?\d[\d.eE+-]*|"[\w ./:-]*")$/

/**
 * Prints a value as in OPA's answers: sorted keys, sets as arrays in Rego order, original number
 * texts, Go's escapes.
 */
export function printGoJson(value: RegoValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return goJsonString(value)
  if (value instanceof RegoNumber) return value.text
  if (printsItself(value)) return value[PRINT_GO_JSON]()
  if (value instanceof RegoObject) return printObject(value)
  const items: RegoArray = value instanceof RegoSet ? value.members : value
  return `[${items.map(printGoJson).join(',')}]`
}

function printsItself(value: object): value is { readonly [PRINT_GO_JSON]: () => string } {
  return PRINT_GO_JSON in value
}

/**
 * True if a Rego text is already the result of `printGoJson`, which avoids parsing most answers.
 */
export function isPrintedScalar(text: string): boolean {
  return PLAIN_SCALAR.test(text)
}

function printObject(object: RegoObject): string {
  const members = object.entries.every(([key]) => typeof key === 'string')
    ? object.entries
    : withTextKeys(object)
  return `{${members.map(([key, value]) => `${goJsonString(keyText(key))}:${printGoJson(value)}`).join(',')}}`
}

/** Keys become strings, which may sort differently. The last of equal keys counts. */
function withTextKeys(object: RegoObject): [key: string, value: RegoValue][] {
  const byText = new Map(object.entries.map(([key, value]) => [keyText(key), value]))
  return [...byText].sort(([a], [b]) => compareStrings(a, b))
}

/** A key that is not a string is printed as JSON text, and escaped again as a string. */
function keyText(key: RegoValue): string {
  return typeof key === 'string' ? key : printGoJson(key)
}
