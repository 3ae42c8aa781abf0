import type { RE2JS } from 're2js'

import type { WorkMeter } from '../../metering/work-meter.js'
import { re2 } from './compile.js'

/** Steps of finding one match in addition to its characters, and bytes of a short match. */
const MATCH_STEPS = 30
const MATCH_BYTES = 32

/** A match: its range in UTF-16 units, and its groups by number or name. */
export interface Match {
  readonly start: number
  readonly end: number
  group(key: number | string): string
}

/**
 * Iterates over the matches from left to right like Go: without overlaps, and without an empty
 * match right after another. A match is only valid until the next one is requested.
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

export function isMatch(regex: RE2JS, text: string, meter: WorkMeter): boolean {
  return regex.matcher(re2().MatcherInput.utf16(new MeteredText(text, regex, meter))).find()
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

/** Characters between two charges. */
const PORTION = 256
/** Steps per character, and per instruction of the pattern that may process it. */
const READ_STEPS = 1
const INSTRUCTION_STEPS = 0.1
/** Cost in evaluation steps per character that a literal search skips. */
const SEARCH_STEPS = 0.1

/**
 * A text that charges for being read: the matcher accesses characters through these methods, and
 * the number of accesses is unknown beforehand. The matcher requires a String.
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
