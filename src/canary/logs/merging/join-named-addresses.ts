import { isMessageField } from '../masking/mask-quoted.js'
import { VALUE } from '../masking/scan-words.js'
import { keepPlaces, wordsKey, uniteEqual } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

/** The name, the colon and the port. */
const PARTS = 3
const NAME = /^[A-Za-z][\w.-]*$/

/**
 * A name with a port (`broker:9092`) is a value where other lines have one between the same words.
 * Unites what is the same after that.
 */
export function joinNamedAddresses(patterns: readonly Pattern[]): readonly Pattern[] {
  if (!patterns.some((pattern) => pattern.words.some((_, place) => isNamedAddress(pattern, place))))
    return patterns
  const surroundings = new Set(
    patterns.flatMap(({ words }) =>
      words.flatMap((word, place) => (word === VALUE ? [around(words, place, place + 1)] : [])),
    ),
  )
  return uniteEqual(patterns.map((pattern) => withoutNames(pattern, surroundings)))
}

function withoutNames(pattern: Pattern, surroundings: ReadonlySet<string>): Pattern {
  const { words } = pattern
  const starts = [...words.keys()].filter(
    (place) => isNamedAddress(pattern, place) && surroundings.has(around(words, place, place + PARTS)),
  )
  if (starts.length === 0) return pattern
  const isKept = (place: number): boolean => !starts.some((start) => place > start && place < start + PARTS)
  const named = words.map((word, place) => (starts.includes(place) ? VALUE : word))
  return keepPlaces({ ...pattern, words: named }, [...words.keys()].filter(isKept))
}

/** After a colon the name is rather the unit of the number. */
function isNamedAddress({ words, gaps, isFixed }: Pattern, place: number): boolean {
  const name = words[place] ?? ''
  if (isFixed || place === 0 || words[place + 1] !== ':' || words[place + 2] !== VALUE) return false
  const isGlued = gaps[place + 1] === 0 && gaps[place + 2] === 0
  return isGlued && words[place - 1] !== ':' && NAME.test(name) && !isMessageField(name)
}

function around(words: readonly string[], start: number, end: number): string {
  return wordsKey([words[start - 2] ?? '', words[start - 1] ?? '', words[end] ?? ''])
}
