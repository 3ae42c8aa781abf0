import { goJsonString } from '../../lib/json/text/escape.js'
import { compareStrings } from '../../lib/text/compare-strings.js'
import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoArray, RegoValue } from './value.js'

/** By this name, a container that is read when it is looked at has a function that gives what `printGoJson` does, without reading it. */
export const PRINT_GO_JSON: unique symbol = Symbol('print as Go does')

const PLAIN_SCALAR = /^(?:true|false|null|-?\d[\d.eE+-]*|"[\w ./:-]*")$/

/** A value as OPA's answers write it: keys sorted, sets as arrays in Rego order, number texts kept, Go's escapes. */
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

/** Whether a Rego text is already what `printGoJson` gives, so that most answers need no reading at all. */
export function isPrintedScalar(text: string): boolean {
  return PLAIN_SCALAR.test(text)
}

function printObject(object: RegoObject): string {
  const members = object.entries.every(([key]) => typeof key === 'string')
    ? object.entries
    : withTextKeys(object)
  return `{${members.map(([key, value]) => `${goJsonString(keyText(key))}:${printGoJson(value)}`).join(',')}}`
}

/** Keys become texts, which may sort elsewhere than the values did; of two that are alike the last counts. */
function withTextKeys(object: RegoObject): [key: string, value: RegoValue][] {
  const byText = new Map(object.entries.map(([key, value]) => [keyText(key), value]))
  return [...byText].sort(([a], [b]) => compareStrings(a, b))
}

/** A key that is no string stands as its own JSON text, which is escaped once more with the rest. */
function keyText(key: RegoValue): string {
  return typeof key === 'string' ? key : printGoJson(key)
}
