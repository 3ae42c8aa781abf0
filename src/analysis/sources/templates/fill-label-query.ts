import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { EscapeContext } from './filling.js'
import {
  DOUBLE_QUOTED,
  RAW_QUOTED,
  SINGLE_QUOTED,
  WORD,
  within,
  PATTERN,
  PLAIN,
  PLAIN_WORD,
} from './escape-contexts.js'

const PIECE =
  /(?<comment>#[^\n]*)|(?<string>"(?:\\[\s\S]|[^"\\])*"?|'(?:\\[\s\S]|[^'\\])*'?|`[^`]*`?)|(?<code>[^#"'`]+)/g

/**
 * A query in PromQL or LogQL with each placeholder replaced by its value, escaped for its context:
 * a string, a regular expression in a string, or outside of strings. Raises `invalid` with all
 * problems.
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

function fillString(string: string, meaning: EscapeContext, filling: Filling): string {
  const quote = string.charAt(0)
  if (string.length === 1 || !string.endsWith(quote)) {
    filling.refuse(`the string that starts with ${string.slice(0, 20)} does not end`)
  }
  const quoted = quote === '`' ? RAW_QUOTED : quote === '"' ? DOUBLE_QUOTED : SINGLE_QUOTED
  return filling.fill(string, within(quoted, meaning))
}

const TOKEN = /\w+|[=!|]~|[|!]>|\S/g
const STRING = '""'

/** Operators whose right side is a regular expression. */
const EXPRESSION_OPERATORS: readonly string[] = ['=~', '!~', '|~']
/** Operators whose right side is a pattern of LogQL's own. */
const PATTERN_OPERATORS: readonly string[] = ['|>', '!>']
/** Stages of LogQL whose strings are formats, patterns or paths of JSON. */
const FORMATTING_STAGES: readonly string[] = ['json', 'logfmt', 'pattern', 'line_format', 'label_format']

/**
 * Follows the code of PromQL or LogQL between its strings, and determines the meaning of each
 * string.
 */
class LabelCode {
  /** The functions whose arguments are being read. */
  readonly #calls: string[] = []
  #beforeLast = ''
  #last = ''
  #stage = ''
  #meaning: EscapeContext = PLAIN

  follow(code: string): void {
    for (const [token] of code.matchAll(TOKEN)) {
      if (token === '(') this.#calls.push(this.#last)
      if (token === ')') this.#calls.pop()
      if (token === '|') this.#stage = ''
      else if (this.#last === '|') this.#stage = token
      this.#push(token)
    }
  }

  /** Continues after a string, and returns its context. */
  followString(): EscapeContext {
    // `|~ "a" or "b"` repeats the operator.
    const isAlternative = this.#last === 'or' && this.#beforeLast === STRING
    if (!isAlternative) this.#meaning = this.#meaningHere()
    this.#push(STRING)
    return this.#meaning
  }

  #meaningHere(): EscapeContext {
    const isExpression = EXPRESSION_OPERATORS.includes(this.#last) || this.#isAfterRegexpStage()
    if (isExpression) return PATTERN
    const isLanguage =
      PATTERN_OPERATORS.includes(this.#last) ||
      FORMATTING_STAGES.includes(this.#stage) ||
      this.#calls.at(-1) === 'label_replace'
    return isLanguage ? PLAIN_WORD : PLAIN
  }

  #isAfterRegexpStage(): boolean {
    return this.#last === 'regexp' && this.#beforeLast === '|'
  }

  #push(token: string): void {
    this.#beforeLast = this.#last
    this.#last = token
  }
}
