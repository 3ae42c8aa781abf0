import type { RE2JS } from 're2js'

import type { WorkMeter } from '../../metering/work-meter.js'
import { re2 } from './compile.js'

/** Steps of finding one match and taking it out, beside those of the characters that are read; and bytes of a short one. */
const MATCH_STEPS = 30
const MATCH_BYTES = 32

/** A match by its extent in UTF-16 units, and the text of a group by number or name. */
export interface Match {
  readonly start: number
  readonly end: number
  group(key: number | string): string
}

/**
 * The matches from left to right as Go finds them: none overlap, and an empty one is not taken right after another.
 * A match is valid until the next one is asked for.
 */
export function* findMatches(regex: RE2JS, text: string, meter: WorkMeter): Generator<Match> {
  const matcher = regex.matcher(re2().MatcherInput.utf16(new MeteredText(text, regex, meter)))
  const names = new Set(Object.keys(regex.namedGroups()))
  const group = (key: number | string): string => {
    const isKnown = typeof key === 'number' ? key <= regex.groupCount() : names.has(key)
    return isKnown ? (matcher.group(key) ?? '') : ''
  }
  let previousEnd = -1
  let searchAt = 0
  while (searchAt <= text.length && matcher.find(searchAt)) {
    meter.spend(MATCH_STEPS)
    meter.reserve(MATCH_BYTES)
    const start = matcher.start()
    const end = matcher.end()
    const isEmpty = end === searchAt
    if (!isEmpty || start !== previousEnd) yield { start, end, group }
    previousEnd = end
    searchAt = isEmpty ? end + unitsAt(text, end) : end
  }
}

/** Whether a text has a match. */
export function isMatch(regex: RE2JS, text: string, meter: WorkMeter): boolean {
  return regex.matcher(re2().MatcherInput.utf16(new MeteredText(text, regex, meter))).find()
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

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
class MeteredText extends String {
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
