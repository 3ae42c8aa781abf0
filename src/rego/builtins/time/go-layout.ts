export const RFC3339 = '2006-01-02T15:04:05Z07:00'
export const RFC3339_NANO = '2006-01-02T15:04:05.999999999Z07:00'

/** OPA's named layouts, which are Go's constants. */
const NAMED_LAYOUTS: ReadonlyMap<string, string> = new Map([
  ['ANSIC', 'Mon Jan _2 15:04:05 2006'],
  ['UnixDate', 'Mon Jan _2 15:04:05 MST 2006'],
  ['RubyDate', 'Mon Jan 02 15:04:05 -0700 2006'],
  ['RFC822', '02 Jan 06 15:04 MST'],
  ['RFC822Z', '02 Jan 06 15:04 -0700'],
  ['RFC850', 'Monday, 02-Jan-06 15:04:05 MST'],
  ['RFC1123', 'Mon, 02 Jan 2006 15:04:05 MST'],
  ['RFC1123Z', 'Mon, 02 Jan 2006 15:04:05 -0700'],
  ['RFC3339', RFC3339],
  ['RFC3339Nano', RFC3339_NANO],
])

export const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
export const WEEKDAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
]

/** A part of a layout: literal text, then an element of the reference time, or none at the end. */
export interface LayoutPart {
  readonly literal: string
  /** As in the layout: `Jan`, `_2`, `.000`, `Z07:00`; empty at the end. */
  readonly element: string
}

/**
 * The elements of Go's reference time, `Mon Jan 2 15:04:05 MST 2006`. Longer spellings come first.
 * A name followed by lower case letters (`Month`) and fraction digits followed by other digits are
 * literals; `_2006` is `_` and a year.
 */
const ELEMENT =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|[345]|PM|pm|[-Z]07(?:0000|:00:00|00|:00)?|[.,](?:0+|9+)(?!\d)/g

/** Resolves a named layout; other texts are returned unchanged. */
export function layoutOf(nameOrLayout: string): string {
  return NAMED_LAYOUTS.get(nameOrLayout) ?? nameOrLayout
}

/** Splits a Go time layout. The last part has no element. */
export function splitLayout(layout: string): readonly LayoutPart[] {
  const parts: LayoutPart[] = []
  let at = 0
  for (const match of layout.matchAll(ELEMENT)) {
    parts.push({ literal: layout.slice(at, match.index), element: match[0] })
    at = match.index + match[0].length
  }
  parts.push({ literal: layout.slice(at), element: '' })
  return parts
}

/** Returns true for a fraction of a second: `.000`, `.999`, or with a comma. */
export function isFraction(element: string): boolean {
  return element.startsWith('.') || element.startsWith(',')
}

/** Returns true for a numeric offset (`-0700`); elements such as `Z07:00` write UTC as `Z`. */
export function isOffset(element: string): boolean {
  return element.startsWith('-') || element.startsWith('Z')
}
