import { compareStrings } from '../../../lib/text/compare-strings.js'
import { RegoNumber, RegoObject, RegoSet } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { escapeForHtml } from '../../../lib/json/text/escape.js'
import { printGoJson } from './json-document.js'

/** How nested values are laid out; without it everything is on one line. */
export interface JsonLayout {
  readonly prefix: string
  readonly indent: string
}

/**
 * A value as Go's encoding/json writes it: `<`, `>` and `&` escaped, members in the order of their key texts. A layout's
 * prefix does not be before the first line.
 */
export function goJsonText(value: RegoValue, layout?: JsonLayout): string {
  return layout === undefined ? writeValue(value) : writeValue(value, layout, `\n${layout.prefix}`)
}

function writeValue(value: RegoValue, layout?: JsonLayout, newLine = ''): string {
  if (typeof value === 'string') return writeText(value)
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof RegoNumber) return value.text
  const inner = newLine + (layout?.indent ?? '')
  if (value instanceof RegoObject) {
    const colon = layout === undefined ? ':' : ': '
    const members = membersByText(value).map(
      ([key, item]) => writeText(key) + colon + writeValue(item, layout, inner),
    )
    return enclose('{', members, '}', inner, newLine)
  }
  const items = value instanceof RegoSet ? value.members : value
  return enclose(
    '[',
    items.map((item) => writeValue(item, layout, inner)),
    ']',
    inner,
    newLine,
  )
}

/** Go escapes before it lays out, so that prefix and indent stay as they are. */
function writeText(text: string): string {
  return escapeForHtml(JSON.stringify(text))
}

function enclose(
  open: string,
  items: readonly string[],
  close: string,
  inner: string,
  newLine: string,
): string {
  return items.length === 0 ? open + close : open + inner + items.join(`,${inner}`) + newLine + close
}

/**
 * An object's members in the order of their key texts: a key that is no string is its own JSON, and of two keys with one
 * text the last counts.
 */
export function membersByText(object: RegoObject): readonly (readonly [key: string, value: RegoValue])[] {
  const members = new Map<string, RegoValue>()
  for (const [key, value] of object.entries) {
    members.set(typeof key === 'string' ? key : printGoJson(key), value)
  }
  return [...members].sort(([a], [b]) => compareStrings(a, b))
}
