import type { Filling, EscapeContext } from './filling.js'
import { WORD } from './escape-contexts.js'

const PIECE = /(?<quoted>"(?:\\[\s\S]|[^"\\])*"?)|(?<code>[^"]+)/g

/**
 * A text of a language that quotes only with double quotes, with the values of the scope escaped
 * for the quotes, or as words outside of them.
 */
export function fillQuotedText(template: string, filling: Filling, context: EscapeContext): string {
  const pieces = [...template.matchAll(PIECE)].map(({ groups = {} }) => {
    const { quoted, code = '' } = groups
    if (quoted === undefined) return filling.fill(code, WORD)
    if (quoted.length === 1 || !quoted.endsWith('"')) {
      filling.refuse(`what starts with ${quoted.slice(0, 20)} does not end`)
    }
    return filling.fill(quoted, context)
  })
  return pieces.join('')
}

/** Between double quotes, where a backslash escapes and a star is always a wildcard. */
export const WITHOUT_WILDCARDS: EscapeContext = {
  allows: 'text without "*" and control characters',
  escape: (value) => (/[*\p{Cc}]/u.test(value) ? undefined : value.replace(/[\\"]/g, '\\$&')),
}
