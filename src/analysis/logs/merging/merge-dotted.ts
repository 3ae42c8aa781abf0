import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { countMeaningfulWords, isDottedName, isRealWord } from './word-kind.js'

const LEAST_DIFFERENT = 3
const LEAST_SHARED_WORDS = 2

/**
 * Unites patterns of one length that differ in dotted names only, at however many places: `Registering class a.B for class
 * c.D` has no siblings, since both names change together.
 */
export function mergeDotted(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = group(patterns, (pattern) => wordsKey(withoutNames(pattern))).values()
  return [...families].flatMap((family) => (isOneTemplate(family) ? [unite(family)] : family))
}

function withoutNames({ words, isFixed }: Pattern): readonly string[] {
  if (isFixed) return words
  const start = words.findIndex((word) => word === VALUE || isRealWord(word))
  return words.map((word, place) => (place > start && isDottedName(word) ? VALUE : word))
}

function isOneTemplate(family: readonly Pattern[]): boolean {
  const [first] = family
  if (first === undefined || family.length < 2) return false
  const shared = countMeaningfulWords(withoutNames(first))
  const isValueElsewhere = family.some(({ words }) => !words.slice(1).some(isDottedName))
  return shared >= LEAST_SHARED_WORDS && (family.length >= LEAST_DIFFERENT || isValueElsewhere)
}
