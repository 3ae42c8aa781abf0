import type { RE2JS } from 're2js'
import type { WorkMeter } from '../../metering/work-meter.js'

/** Characters that are read between two payments. */
const PORTION = 256
/** Steps of reading a character, and of each instruction of the pattern that may look at it. */
const READ_STEPS = 1
const INSTRUCTION_STEPS = 0.1
/** Steps of each character that a search for a literal skips. */
const SEARCH_STEPS = 0.1

/**
 * A text that pays for being read: the matcher looks at every character by these methods, as often as it has to, and nothing
 * tells beforehand how often that is. It must be a String to pass for one there.
 */
export class MeteredText extends String {
  readonly #text: string
  readonly #meter: WorkMeter
  readonly #portionSteps: number
  #left = PORTION

  constructor(text: string, regex: RE2JS, meter: WorkMeter) {
    super(text)
    this.#text = text
    this.#meter = meter
    this.#portionSteps = PORTION * (READ_STEPS + regex.programSize() * INSTRUCTION_STEPS)
  }

  override charCodeAt(index: number): number {
    if (--this.#left === 0) this.#payPortion()
    return this.#text.charCodeAt(index)
  }

  override indexOf(part: string, from = 0): number {
    const found = this.#text.indexOf(part, from)
    this.#meter.spend(((found < 0 ? this.#text.length : found) - from) * SEARCH_STEPS)
    return found
  }

  override substring(start: number, end?: number): string {
    return this.#text.substring(start, end)
  }

  #payPortion(): void {
    this.#left = PORTION
    this.#meter.spend(this.#portionSteps)
  }
}
