import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { Place } from './filling.js'
import { LabelCode } from './label-code.js'
import { DOUBLE_QUOTED, RAW_QUOTED, SINGLE_QUOTED, WORD, within } from './places.js'

const PIECE =
  /(?<comment>#[^\n]*)|(?<string>"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|`[^`]*`?)|(?<code>[^#"'`]+)/g

/**
 * A query in PromQL or LogQL with each placeholder replaced by its value, escaped for where it stands: a string, a regular
 * expression in a string, or bare. Raises `invalid` naming everything that is wrong.
 */
export function fillLabelQuery(template: string, scope: Scope): string {
  const filling = new Filling(scope)
  const code = new LabelCode()
  const pieces = [...template.matchAll(PIECE)].map(({ groups = {} }) => {
    const { comment, string, code: text = '' } = groups
    if (comment !== undefined) return filling.fill(comment, WORD)
    if (string !== undefined) return fillString(string, code.followString(), filling)
    code.follow(text)
    return filling.fill(text, WORD)
  })
  return filling.finish(pieces.join(''))
}

function fillString(string: string, meaning: Place, filling: Filling): string {
  const quote = string.charAt(0)
  if (string.length === 1 || !string.endsWith(quote)) {
    filling.refuse(`the string that starts with ${string.slice(0, 20)} does not end`)
  }
  const quoted = quote === '`' ? RAW_QUOTED : quote === '"' ? DOUBLE_QUOTED : SINGLE_QUOTED
  return filling.fill(string, within(quoted, meaning))
}
