import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { Place } from './filling.js'
import {
  DOUBLE_QUOTED,
  PATTERN,
  PLAIN,
  PLAIN_WORD,
  RAW_QUOTED,
  SINGLE_QUOTED,
  WORD,
  within,
} from './places.js'

const PIECE =
  /(?<comment>#[^\n]*)|(?<string>"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|`[^`]*`?)|(?<code>[^#"'`]+)/g

/** Operators whose right side is a regular expression; those for LogQL's own patterns; all others take a text. */
const MATCHES_EXPRESSION = /(?:[=!|]~|\|\s*regexp)\s*$/
const MATCHES_PATTERN = /[|!]>\s*$/
/** `|~ "a" or "b"` repeats the operator. */
const ALTERNATIVE = /""\s*or\s*$/
/** Stages of LogQL whose strings are formats, templates or paths of JSON. */
const FORMATTING_STAGE = /\|\s*(?:json|logfmt|pattern|line_format|label_format)\b[^|]*$/

/**
 * A query in PromQL or LogQL with each placeholder replaced by its value, escaped for where it stands: a string, a regular
 * expression in a string, or bare. Raises `invalid` naming everything that is wrong.
 */
export function fillLabelQuery(template: string, scope: Scope): string {
  const filling = new Filling(scope)
  const calls = new CallStack()
  let code = ''
  let meaning: Place = PLAIN
  let filled = ''
  for (const { groups = {} } of template.matchAll(PIECE)) {
    const { comment, string, code: text = '' } = groups
    if (string !== undefined) {
      meaning = ALTERNATIVE.test(code) ? meaning : meaningAfter(code, calls.innermost)
      filled += fillString(string, meaning, filling)
      code += '""'
    } else {
      filled += filling.fill(comment ?? text, WORD)
      code += text
      calls.follow(text)
    }
  }
  return filling.finish(filled)
}

function meaningAfter(code: string, call: string | undefined): Place {
  if (MATCHES_EXPRESSION.test(code)) return PATTERN
  const isLanguage = call === 'label_replace' || MATCHES_PATTERN.test(code) || FORMATTING_STAGE.test(code)
  return isLanguage ? PLAIN_WORD : PLAIN
}

function fillString(string: string, meaning: Place, filling: Filling): string {
  const quote = string.charAt(0)
  if (string.length === 1 || !string.endsWith(quote)) {
    filling.refuse(`the string that starts with ${string.slice(0, 20)} does not end`)
  }
  const quoted = quote === '`' ? RAW_QUOTED : quote === '"' ? DOUBLE_QUOTED : SINGLE_QUOTED
  return filling.fill(string, within(quoted, meaning))
}

/** The functions whose arguments are being read. */
class CallStack {
  readonly #names: string[] = []
  #word = ''

  get innermost(): string | undefined {
    return this.#names.at(-1)
  }

  follow(code: string): void {
    for (const [token] of code.matchAll(/\w+|[()]|[^\s\w()]/g)) {
      if (token === '(') this.#names.push(this.#word)
      if (token === ')') this.#names.pop()
      this.#word = token
    }
  }
}
