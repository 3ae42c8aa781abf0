import { AppError } from '../../../errors/app-error.js'
import { INSTANCE_SEPARATOR } from '../../sources.js'
import type { Scope } from '../../sources.js'

/** Position of a placeholder in a query: the accepted values and their escaping. */
export interface EscapeContext {
  /** The accepted values, as the end of a sentence. */
  readonly allows: string
  /** Whether a value may name several instances. */
  readonly allowsSeveral?: true
  /** The value escaped for this context. Undefined if no escaping makes it safe. */
  readonly escape: (value: string) => string | undefined
}

const PLACEHOLDER = /\$\{(?<name>[^{}]*)\}/g
const NAME = /^[A-Za-z_][\w./-]*$/
/** `${1}` is a group of a regular expression in the replacements of PromQL and LogQL. */
const GROUP_REFERENCE = /^\d+$/
const MAX_SHOWN = 60

/** Fills one template, and collects all problems. */
export class Filling {
  readonly #scope: Scope
  readonly #problems = new Set<string>()

  constructor(scope: Scope) {
    this.#scope = scope
  }

  /** A part of the template with a single context, with its placeholders replaced. */
  fill(text: string, context: EscapeContext): string {
    return text.replace(PLACEHOLDER, (whole: string, name: string, at: number) => {
      if (GROUP_REFERENCE.test(name)) return whole
      // It would act on the first sign of the escaped value.
      if (text[at - 1] === '\\') this.refuse(`${whole}: a placeholder cannot follow a backslash`)
      return this.#valueOf(name, context)
    })
  }

  refuse(problem: string): void {
    this.#problems.add(problem)
  }

  /** The filled template. Raises one `invalid` that lists every problem. */
  finish<T>(filled: T): T {
    if (this.#problems.size === 0) return filled
    const problems = [...this.#problems]
    throw new AppError('invalid', `the query cannot be filled: ${problems.join('; ')}`, {
      code: 'invalid_query',
      details: problems.map((message) => ({ code: 'invalid_query', message })),
    })
  }

  #valueOf(name: string, context: EscapeContext): string {
    const value = this.#scopeValue(name)
    if (value?.includes(INSTANCE_SEPARATOR) === true && context.allowsSeveral !== true) {
      this.refuse(
        `\${${name}} names several instances, which only a regular expression takes: write =~ before it`,
      )
      return ''
    }
    const escaped = value === undefined ? undefined : context.escape(value)
    if (value !== undefined && escaped === undefined) {
      this.refuse(`\${${name}} is ${show(value)}, but this place only allows ${context.allows}`)
    }
    return escaped ?? ''
  }

  /**
   * An empty value is refused: in a pattern it would match everything, and as a label's value all
   * series without the label.
   */
  #scopeValue(name: string): string | undefined {
    if (!NAME.test(name)) {
      this.refuse(
        `\${${name}} is not a placeholder: its name must start with a letter and hold letters, digits, "_", ".", "/" and "-"`,
      )
      return undefined
    }
    const value = Object.hasOwn(this.#scope, name) ? this.#scope[name] : undefined
    if (value === undefined) this.refuse(`\${${name}} is not in the scope, which has ${this.#names()}`)
    else if (value === '') this.refuse(`\${${name}} is empty in the scope`)
    return value === '' ? undefined : value
  }

  #names(): string {
    const names = Object.keys(this.#scope)
    return names.length === 0 ? 'no values' : names.join(', ')
  }
}

function show(value: string): string {
  const text = JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
