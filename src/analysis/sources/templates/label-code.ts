import type { Place } from './filling.js'
import { PATTERN, PLAIN, PLAIN_WORD } from './places.js'

const TOKEN = /\w+|[=!|]~|[|!]>|\S/g
const STRING = '""'

/** Operators whose right side is a regular expression. */
const EXPRESSION_OPERATORS: readonly string[] = ['=~', '!~', '|~']
/** Operators whose right side is a pattern of LogQL's own. */
const PATTERN_OPERATORS: readonly string[] = ['|>', '!>']
/** Stages of LogQL whose strings are formats, patterns or paths of JSON. */
const FORMATTING_STAGES: readonly string[] = ['json', 'logfmt', 'pattern', 'line_format', 'label_format']

/** Follows the code of PromQL or LogQL between its strings, and tells what a string means where it stands. */
export class LabelCode {
  /** The functions whose arguments are being read. */
  readonly #calls: string[] = []
  #beforeLast = ''
  #last = ''
  #stage = ''
  #meaning: Place = PLAIN

  follow(code: string): void {
    for (const [token] of code.matchAll(TOKEN)) {
      if (token === '(') this.#calls.push(this.#last)
      if (token === ')') this.#calls.pop()
      if (token === '|') this.#stage = ''
      else if (this.#last === '|') this.#stage = token
      this.#push(token)
    }
  }

  /** Goes on after a string, and gives what the string means. */
  followString(): Place {
    // `|~ "a" or "b"` repeats the operator.
    const isAlternative = this.#last === 'or' && this.#beforeLast === STRING
    if (!isAlternative) this.#meaning = this.#meaningHere()
    this.#push(STRING)
    return this.#meaning
  }

  #meaningHere(): Place {
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
