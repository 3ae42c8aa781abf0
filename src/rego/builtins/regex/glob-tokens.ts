import { BuiltinError } from '../shared/builtin.js'

/** How often a token may stand: once, one or more times, any number of times. */
export type GlobFlag = 'once' | 'plus' | 'star'

/** One place of a glob: any character, or one out of inclusive ranges of code points. */
export interface GlobToken {
  readonly ranges: 'any' | readonly (readonly [low: number, high: number])[]
  readonly flag: GlobFlag
}

/** A code point of the pattern; an escaped one has no special meaning. */
interface Sign {
  readonly character: string
  readonly isEscaped: boolean
}

/**
 * Reads the globs of `regex.globs_match`: characters, `.`, `[a-z]`, `\` before a special character, and the flags `*`
 * and `+`. Raises BuiltinError with the text of OPA's tokenizer.
 */
export function readGlob(glob: string): GlobToken[] {
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

  #readRanges(sign: Sign): GlobToken['ranges'] {
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
    let previous: Sign | undefined
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

  #readRangeAfter(low: Sign | undefined): readonly [number, number] {
    if (low === undefined) return this.#fail("range character '-' must be preceded by a Unicode character")
    // OPA looks for the end of the range and the close of the set at once.
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

  #next(): Sign | undefined {
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

function isSpecial(sign: Sign, character: string): boolean {
  return sign.character === character && !sign.isEscaped
}

function single(sign: Sign): readonly [number, number] {
  return [codeOf(sign), codeOf(sign)]
}

function codeOf(sign: Sign): number {
  return sign.character.codePointAt(0) ?? 0
}
