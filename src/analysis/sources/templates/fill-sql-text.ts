import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { EscapeContext } from './filling.js'
import { PATTERN, WORD, within } from './escape-contexts.js'

/** The places for values in a language like SQL. */
export interface SqlPlaces {
  /** Between single quotes. */
  readonly string: EscapeContext
  /** Between double quotes or backquotes: the name of a column or a measurement. */
  readonly name: EscapeContext
  /** Outside of quotes; a word by default. */
  readonly bare?: EscapeContext
}

const PIECE =
  /(?<pattern>(?:=~|!~)\s*\/(?:\\[\s\S]|[^/\\])*\/|\br'(?:\\[\s\S]|[^'\\])*')|(?<string>'(?:\\[\s\S]|[^'\\])*'?)|(?<name>"(?:\\[\s\S]|[^"\\])*"?|`[^`]*`?)|(?<code>[\s\S])/g

/** Within quotes, as InfluxQL and NRQL escape: a backslash before a backslash and the quote. */
export function escapedIn(quote: string): EscapeContext {
  return {
    allows: 'text without control characters',
    escape: (value) =>
      /\p{Cc}/u.test(value) ? undefined : value.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`),
  }
}

/**
 * A query in InfluxQL or NRQL with each placeholder replaced by its value, escaped for its context:
 * a string, the name of a column, a regular expression, or outside of quotes. Raises `invalid` with
 * all problems.
 */
export function fillSqlText(template: string, scope: Scope, places: SqlPlaces): string {
  const filling = new Filling(scope)
  let code = ''
  const pieces: string[] = []
  const endCode = (): void => {
    pieces.push(filling.fill(code, places.bare ?? WORD))
    code = ''
  }
  for (const { groups = {} } of template.matchAll(PIECE)) {
    if (groups['code'] !== undefined) {
      code += groups['code']
      continue
    }
    endCode()
    pieces.push(fillQuoted(groups, filling, places))
  }
  endCode()
  return filling.finish(pieces.join(''))
}

function fillQuoted(
  groups: Readonly<Record<string, string | undefined>>,
  filling: Filling,
  { string, name }: SqlPlaces,
): string {
  const { pattern } = groups
  if (pattern !== undefined)
    return filling.fill(pattern, pattern.startsWith('r') ? within(string, PATTERN) : PATTERN)
  const quoted = groups['string'] ?? groups['name'] ?? ''
  if (quoted.length === 1 || !quoted.endsWith(quoted.charAt(0))) {
    filling.refuse(`what starts with ${quoted.slice(0, 20)} does not end`)
  }
  return filling.fill(quoted, groups['string'] === undefined ? name : string)
}
