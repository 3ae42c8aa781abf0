import type { ConnectorParameters } from './connectors.js'
import { splitOnCommas } from './parse-connector-parameters.js'

/** Which texts a parameter takes. */
export interface ParameterForm {
  readonly pattern: RegExp
  /** The end of the sentence "must be …". */
  readonly words: string
}

const MAX_SHOWN = 60

/** Reads the parameters of a trigger and notes everything that is wrong with them. */
export class ParameterReader {
  readonly #parameters: ConnectorParameters
  readonly #problems: string[] = []

  constructor(parameters: ConnectorParameters) {
    this.#parameters = parameters
  }

  /** What is wrong so far, a sentence each. */
  get problems(): readonly string[] {
    return this.#problems
  }

  /** The single value of a parameter that must be there. */
  one(name: string, form: ParameterForm): string {
    const [value, ...others] = this.#valuesOf(name)
    if (value === undefined) this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    if (others.length > 0) this.#problems.push(`parameter ${name} has more than one value`)
    return this.#checked(name, value === undefined ? [] : [value], form)[0] ?? ''
  }

  /** As `optionalList`, where there must be at least one value. */
  list(name: string, form: ParameterForm): readonly string[] {
    const values = this.optionalList(name, form)
    if (this.#valuesOf(name).length === 0) {
      this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    }
    return values
  }

  /** All values of a parameter as they are, which must have at least one. */
  wholeList(name: string, form: ParameterForm): readonly string[] {
    const values = this.#valuesOf(name)
    if (values.length === 0) this.#problems.push(`parameter ${name} is missing: must be ${form.words}`)
    return this.#checked(name, values, form)
  }

  /** All values of a parameter, each once; values in one text are separated by commas. */
  optionalList(name: string, form: ParameterForm): readonly string[] {
    return this.#checked(name, [...new Set(this.#valuesOf(name).flatMap(splitOnCommas))], form)
  }

  /** Notes that none of several parameters is there. */
  missingAll(...names: readonly string[]): void {
    this.#problems.push(`one of the parameters ${names.join(', ')} must be there`)
  }

  /** Notes that parameters whose values belong together differ in how many they have. */
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
