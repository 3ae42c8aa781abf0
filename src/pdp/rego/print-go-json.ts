import { goJsonString } from '../../lib/json/escape.js'
import { RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoArray, RegoValue } from './value.js'
import { printJson } from './print-text.js'

const PLAIN_SCALAR = /^(?:true|false|null|-?\d[\d.eE+-]*|"[\w ./:-]*")$/

/**
 * A value as OPA's answers write it: keys sorted, sets as arrays in Rego order, number texts kept, Go's escapes.
 * `indent` is the text of one level, or empty for the compact form.
 */
export function printGoJson(value: RegoValue, indent = ''): string {
  return print(value, indent, indent === '' ? '' : '\n')
}

/** Whether a Rego text is already what `printGoJson` gives, so that most answers need no reading at all. */
export function isPrintedScalar(text: string): boolean {
  return PLAIN_SCALAR.test(text)
}

function print(value: RegoValue, indent: string, newline: string): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return goJsonString(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoObject) return printObject(value, indent, newline)
  return printItems(value instanceof RegoSet ? value.members : value, indent, newline)
}

function printItems(items: RegoArray, indent: string, newline: string): string {
  const inner = newline + indent
  return bracket(
    '[',
    items.map((item) => print(item, indent, inner)),
    ']',
    indent,
    newline,
  )
}

function printObject(object: RegoObject, indent: string, newline: string): string {
  const inner = newline + indent
  const colon = indent === '' ? ':' : ': '
  // Keys that are no strings become their own JSON text, which may sort elsewhere than the value did.
  const members = object.entries
    .map(([key, value]) => ({ key: typeof key === 'string' ? key : printJson(key), value }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
    .map(({ key, value }) => `${goJsonString(key)}${colon}${print(value, indent, inner)}`)
  return bracket('{', members, '}', indent, newline)
}

function bracket(
  open: string,
  items: readonly string[],
  close: string,
  indent: string,
  newline: string,
): string {
  if (items.length === 0) return open + close
  const inner = newline + indent
  return `${open}${inner}${items.join(`,${inner}`)}${newline}${close}`
}
