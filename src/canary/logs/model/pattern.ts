import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'

/** The common part of lines, with the rows of these lines. */
export interface Pattern {
  readonly words: readonly string[]
  /** Spaces before each word, as in the first of its lines. */
  readonly gaps: readonly number[]
  /** The rows of the table that it covers, the first to appear first. */
  readonly rows: readonly number[]
  /** Masked lines that it came from, up to a limit. A later run recognizes it by any of them. */
  readonly origins: readonly string[]
  /** Whether it comes from a stack trace, whose words are names and never values. */
  readonly isFixed: boolean
}

const SEPARATOR = '\u0000'
const MAX_ORIGINS = 50

/** Words as one string, for finding equal ones. */
export function wordsKey(words: readonly string[]): string {
  return words.join(SEPARATOR)
}

/** The words of a key. */
export function keyWords(key: string): string[] {
  return key.split(SEPARATOR)
}

/** Unites patterns of the same length. Places with different words become values. */
export function unite(patterns: readonly Pattern[]): Pattern {
  const ordered = patterns.toSorted((a, b) => firstRow(a) - firstRow(b))
  const [first, ...others] = ordered
  if (first === undefined) throw new RangeError('nothing to unite')
  return {
    ...first,
    words: first.words.map((word, place) =>
      others.every((other) => other.words[place] === word) ? word : VALUE,
    ),
    ...coverage(ordered),
  }
}

/** The rows and origins of several patterns together. */
export function coverage(ordered: readonly Pattern[]): Pick<Pattern, 'rows' | 'origins'> {
  return {
    rows: ordered.flatMap(({ rows }) => rows),
    origins: ordered.flatMap(({ origins }) => origins).slice(0, MAX_ORIGINS),
  }
}

/** The pattern reduced to these places of its words, in order. */
export function keepPlaces(pattern: Pattern, places: readonly number[]): Pattern {
  const { words, gaps } = pattern
  return { ...pattern, words: places.map((at) => words[at] ?? ''), gaps: places.map((at) => gaps[at] ?? 0) }
}

/** The row that appeared first. */
export function firstRow({ rows }: Pattern): number {
  return rows[0] ?? 0
}

/** One pattern for all that have the same words. */
export function uniteEqual(patterns: readonly Pattern[]): readonly Pattern[] {
  return [...group(patterns, ({ words }) => wordsKey(words)).values()].map(unite)
}
