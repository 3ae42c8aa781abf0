import { charactersOf, countCharacters, indexOfAny } from './bytes.js'
import type { Bytes } from './bytes.js'
import { ANY_LENGTH } from './matcher.js'
import type { Matcher } from './matcher.js'
import { startsOf } from './text-matchers.js'

/** `*`: what has no separator in it. */
export interface Any extends Matcher {
  readonly kind: 'any'
  readonly separators: readonly Bytes[]
}

export function any(separators: readonly Bytes[]): Any {
  return {
    kind: 'any',
    separators,
    length: ANY_LENGTH,
    matches: (text, meter) => indexOfAny(text, separators, meter) < 0,
    find: (text, meter) => {
      const end = indexOfAny(text, separators, meter)
      return { at: 0, lengths: startsOf(end < 0 ? text : text.slice(0, end), 0) }
    },
  }
}

/** `**`: whatever there is. */
export const superMatcher: Matcher = {
  kind: 'super',
  length: ANY_LENGTH,
  matches: () => true,
  find: (text) => ({ at: 0, lengths: startsOf(text, 0) }),
}

/** An empty text, as between the commas of `{a,,b}`. */
export const nothing: Matcher = {
  kind: 'nothing',
  length: 0,
  matches: (text) => text === '',
  find: () => ({ at: 0, lengths: [0] }),
}

/** This many characters or more. */
export function min(count: number): Matcher {
  return {
    kind: 'min',
    length: ANY_LENGTH,
    matches: (text) => countCharacters(text) >= count,
    find: (text) => {
      const lengths: number[] = []
      let seen = 0
      for (const { at, written } of charactersOf(text)) if (++seen >= count) lengths.push(at + written)
      return lengths.length === 0 ? undefined : { at: 0, lengths }
    },
  }
}

/** This many characters or fewer. */
export function max(count: number): Matcher {
  return {
    kind: 'max',
    length: ANY_LENGTH,
    matches: (text) => countCharacters(text) <= count,
    find: (text) => {
      const lengths = [0]
      for (const { at, written } of charactersOf(text)) {
        if (lengths.length > count) break
        lengths.push(at + written)
      }
      return { at: 0, lengths }
    },
  }
}
