import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'

type Glob = readonly GlobToken[]

/** Each flag adds one level of recursion. OPA has no limit. */
const MAX_FLAGS = 500
/** Cost in evaluation steps of comparing two tokens, and two of their ranges. */
const TOKEN_STEPS = 5
const RANGE_STEPS = 0.5
/** Cost in evaluation steps of looking up the result for two positions. */
const POSITION_STEPS = 40

/**
 * Returns true if some text matches both globs, by OPA's algorithm: it walks both from the left and
 * lets a repeated token consume tokens of the other. It misses texts in which both sides omit a
 * starred token. Throws BuiltinError for an invalid glob.
 */
export function globsIntersect(first: string, second: string, meter: WorkMeter): boolean {
  const globs = [mergeRepeats(readGlob(first)), mergeRepeats(readGlob(second))] as const
  const flags = [...globs[0], ...globs[1]].filter((token) => token.flag !== 'once').length
  if (flags > MAX_FLAGS) meter.exceed(`globs have more than ${MAX_FLAGS} repeated tokens`)
  // Both ends compare each token once, with all its ranges.
  meter.spend(rangePairs(...globs) * RANGE_STEPS * 2)
  const trimmed = trim(...globs)
  return trimmed !== undefined && new GlobPair(trimmed, meter).intersect()
}

function rangePairs(a: Glob, b: Glob): number {
  const most = (glob: Glob): number => glob.reduce((largest, token) => Math.max(largest, rangesOf(token)), 1)
  return a.reduce((sum, token) => sum + rangesOf(token), 0) * most(b)
}

/** Merges repeated tokens of the same characters like OPA: also `a+a+` becomes `a+`. */
function mergeRepeats(glob: Glob): Glob {
  const merged: GlobToken[] = []
  for (const token of glob) {
    const last = merged.at(-1)
    const isRepeat =
      last !== undefined && last.flag !== 'once' && token.flag !== 'once' && sameRanges(last, token)
    if (!isRepeat) merged.push(token)
    else if (token.flag === 'plus') merged[merged.length - 1] = token
  }
  return merged
}

function sameRanges(a: GlobToken, b: GlobToken): boolean {
  return JSON.stringify(a.ranges) === JSON.stringify(b.ranges)
}

/** Removes matching tokens at both ends but one; undefined if an end does not match. */
function trim(a: Glob, b: Glob): [Glob, Glob] | undefined {
  let left = 0
  while (bothOnce(a[left], b[left])) {
    if (!overlap(a[left], b[left])) return undefined
    left++
  }
  left = Math.max(0, left - 1)
  let cut = 0
  const shorter = Math.min(a.length, b.length) - left
  while (cut < shorter && bothOnce(a.at(-1 - cut), b.at(-1 - cut))) {
    if (!overlap(a.at(-1 - cut), b.at(-1 - cut))) return undefined
    cut++
  }
  cut = Math.max(0, cut - 1)
  return [a.slice(left, a.length - cut), b.slice(left, b.length - cut)]
}

class GlobPair {
  readonly #globs: readonly [Glob, Glob]
  readonly #known = new Map<string, boolean>()
  readonly #meter: WorkMeter

  constructor(globs: readonly [Glob, Glob], meter: WorkMeter) {
    this.#globs = globs
    this.#meter = meter
  }

  intersect(): boolean {
    return this.#walk(0, 0, 0)
  }

  /** Returns true if the rests of both globs intersect. Results are cached. */
  #walk(side: 0 | 1, i: number, j: number): boolean {
    this.#meter.spend(POSITION_STEPS)
    const key = `${side}:${i}:${j}`
    const known = this.#known.get(key) ?? this.#walkAnew(side, i, j)
    this.#known.set(key, known)
    return known
  }

  #walkAnew(side: 0 | 1, from: number, otherFrom: number): boolean {
    const other = side === 0 ? 1 : 0
    let i = from
    let j = otherFrom
    for (; ; i++, j++) {
      const token = this.#globs[side][i]
      const otherToken = this.#globs[other][j]
      if (token === undefined || otherToken === undefined) return token === otherToken
      if (token.flag !== 'once') return this.#repeat(side, i, j)
      if (otherToken.flag !== 'once') return this.#repeat(other, j, i)
      if (!this.#overlap(token, otherToken)) return false
    }
  }

  /** Consumes tokens of the other glob with a repeated token until the rests intersect. */
  #repeat(side: 0 | 1, i: number, from: number): boolean {
    const other = this.#globs[side === 0 ? 1 : 0]
    const repeated = this.#globs[side][i]
    const next = this.#globs[side][i + 1]
    let j = from
    if (repeated?.flag === 'plus') {
      if (!this.#overlap(repeated, other[j])) return false
      // A repeated token of the other side can be consumed again.
      if (other[j]?.flag === 'once') j++
    }
    for (; j < other.length; j++) {
      if (next !== undefined && this.#overlap(other[j], next) && this.#walk(side, i + 1, j)) return true
      if (!this.#overlap(other[j], repeated)) return false
    }
    return next === undefined
  }

  #overlap(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
    this.#meter.spend(TOKEN_STEPS + rangesOf(a) * rangesOf(b) * RANGE_STEPS)
    return overlap(a, b)
  }
}

function bothOnce(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
  return a?.flag === 'once' && b?.flag === 'once'
}

function rangesOf(token: GlobToken | undefined): number {
  return token === undefined || token.ranges === 'any' ? 0 : token.ranges.length
}

function overlap(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const { ranges } = a
  const others = b.ranges
  if (ranges === 'any' || others === 'any') return true
  return ranges.some(([low, high]) => others.some((range) => range[0] <= high && low <= range[1]))
}

/** Repetition of a token: once, one or more times, any number of times. */
type GlobFlag = 'once' | 'plus' | 'star'

/** One token of a glob: any character, or one of inclusive ranges of code points. */
interface GlobToken {
  readonly ranges: 'any' | readonly (readonly [low: number, high: number])[]
  readonly flag: GlobFlag
}

/** A code point of the pattern. An escaped one has no special meaning. */
interface PatternCharacter {
  readonly character: string
  readonly isEscaped: boolean
}

/**
 * Parses the globs of `regex.globs_match`: characters, `.`, `[a-z]`, `\` before a special
 * character, and the flags `*` and `+`. Throws BuiltinError with the message of OPA's tokenizer.
 */
function readGlob(glob: string): GlobToken[] {
  return new GlobReader(glob).readAll()
}

class GlobReader {
  readonly #text: string
  readonly #characters: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#text = text
    this.#characters = Array.from(text)
  }

  readAll(): GlobToken[] {
    const tokens: GlobToken[] = []
    for (let sign = this.#next(); sign !== undefined; sign = this.#next()) {
      const ranges = this.#readRanges(sign)
      tokens.push({ ranges, flag: this.#readFlag() })
    }
    return tokens
  }

  #readRanges(sign: PatternCharacter): GlobToken['ranges'] {
    if (isSpecial(sign, '.')) return 'any'
    if (isSpecial(sign, '[')) return this.#readSet()
    if (isSpecial(sign, '*') || isSpecial(sign, '+')) {
      return this.#fail(`flag '${sign.character}' must be preceded by a non-flag`)
    }
    if (isSpecial(sign, ']')) return this.#fail("set-close ']' with no preceding '['")
    return [single(sign)]
  }

  #readFlag(): GlobFlag {
    const character = this.#characters[this.#at]
    if (character !== '*' && character !== '+') return 'once'
    this.#at++
    return character === '*' ? 'star' : 'plus'
  }

  #readSet(): (readonly [number, number])[] {
    const ranges: (readonly [number, number])[] = []
    let previous: PatternCharacter | undefined
    for (let sign = this.#next(); sign !== undefined; sign = this.#next()) {
      if (isSpecial(sign, ']')) return ranges
      if (isSpecial(sign, '-')) {
        ranges.push(this.#readRangeAfter(previous))
        previous = undefined
      } else {
        ranges.push(single(sign))
        previous = sign
      }
    }
    return this.#fail('found [ without matching ]')
  }

  #readRangeAfter(low: PatternCharacter | undefined): readonly [number, number] {
    if (low === undefined) return this.#fail("range character '-' must be preceded by a Unicode character")
    // OPA requires both the end of the range and the end of the set here.
    if (this.#at + 1 >= this.#characters.length) {
      return this.#fail("range character '-' must be followed by a Unicode character")
    }
    const high = this.#next()
    if (high === undefined || isSpecial(high, ']') || isSpecial(high, '-')) {
      return this.#fail("range character '-' cannot be followed by a special symbol")
    }
    const range = [codeOf(low), codeOf(high)] as const
    if (range[0] <= range[1]) return range
    return this.#fail(`range is out of order: '${high.character}' comes before '${low.character}' in Unicode`)
  }

  #next(): PatternCharacter | undefined {
    const character = this.#characters[this.#at]
    if (character !== '\\') {
      this.#at++
      return character === undefined ? undefined : { character, isEscaped: false }
    }
    const escaped = this.#characters[this.#at + 1]
    if (escaped === undefined) return this.#fail('input ends with a \\ (escape) character')
    this.#at += 2
    return { character: escaped, isEscaped: true }
  }

  #fail(problem: string): never {
    const position = Math.min(this.#at, this.#characters.length)
    throw new BuiltinError(`input:${this.#text}, pos:${position}, ${problem}: the input provided is invalid`)
  }
}

function isSpecial(sign: PatternCharacter, character: string): boolean {
  return sign.character === character && !sign.isEscaped
}

function single(sign: PatternCharacter): readonly [number, number] {
  return [codeOf(sign), codeOf(sign)]
}

function codeOf(sign: PatternCharacter): number {
  return sign.character.codePointAt(0) ?? 0
}
