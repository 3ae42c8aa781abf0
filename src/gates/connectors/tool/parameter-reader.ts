import type { ConnectorParameters } from './connectors.js'
import { splitOnCommas } from './parse-connector-parameters.js'

/** Valid values of a parameter. */
export interface ParameterForm {
  readonly pattern: RegExp
  /** End of the sentence "must be …". */
  readonly words: string
}

const MAX_SHOWN = 60

/** Reads the parameters of a trigger and collects all problems. */
export class ParameterReader {
  readonly #parameters: ConnectorParameters
  readonly #problems: string[] = []

  constructor(parameters: ConnectorParameters) {
    this.#parameters = parameters
  }

  /** Problems so far, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** Reads the single value of a required parameter. */
  one(name: string, form: ParameterForm): string {
    const [value, ...others] = this.#valuesOf(name)
    if (value === undefined) this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    if (others.length > 0) this.#problems.push(`parameter ${name} has more than one value`)
    return this.#checked(name, value === undefined ? [] : [value], form)[0] ?? ''
  }

  /** Reads like `optionalList`, but requires a value. */
  list(name: string, form: ParameterForm): readonly string[] {
    const values = this.optionalList(name, form)
    if (this.#valuesOf(name).length === 0) {
      this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    }
    return values
  }

  /** Reads all values of a required parameter unchanged. */
  wholeList(name: string, form: ParameterForm): readonly string[] {
    const values = this.#valuesOf(name)
    if (values.length === 0) this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    return this.#checked(name, values, form)
  }

  /** Reads the distinct values of a parameter. Commas separate values within a text. */
  optionalList(name: string, form: ParameterForm): readonly string[] {
    return this.#checked(name, [...new Set(this.#valuesOf(name).flatMap(splitOnCommas))], form)
  }

  /** Adds the problem that none of some parameters is present. */
  missingAll(...names: readonly string[]): void {
    this.#problems.push(`one of the parameters ${names.join(', ')} must be there`)
  }

  /** Adds the problem that parameters with values combined by position differ in length. */
  unequal(...names: readonly string[]): void {
    this.#problems.push(`the parameters ${names.join(', ')} must have one value each, or equally many`)
  }

  #valuesOf(name: string): readonly string[] {
    const values = Object.hasOwn(this.#parameters, name) ? (this.#parameters[name] ?? []) : []
    return values.map((value) => value.trim()).filter((value) => value !== '')
  }

  #checked(name: string, values: readonly string[], { pattern, words }: ParameterForm): readonly string[] {
    const wrong = values.filter((value) => !pattern.test(value))
    for (const value of wrong) {
      const shown = JSON.stringify(value.slice(0, MAX_SHOWN))
      this.#problems.push(`parameter ${name} must be ${words}, not ${shown}`)
    }
    return values.filter((value) => pattern.test(value))
  }
}
