import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { keyWords, unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { commonKind, countMeaningfulWords, isRealWord } from './word-kind.js'

/** This many patterns make a word at a place a part of the message, and so many a template. */
const MANY = 16
/** Fewer different words at a place may be different messages, however many lines have them. */
const MIN_VALUES = 8
const MIN_SHARED_WORDS = 2

/**
 * Unites many patterns of one length that share their frequent words and differ in rare ones, at several places at once:
 * `ann lent 1984 to bob` has no siblings where everybody lends something else to somebody else. The idea of words by
 * frequency is that of Brain (Yu and others, TSC 2023).
 */
export function mergeFrequent(patterns: readonly Pattern[]): readonly Pattern[] {
  if (patterns.length < MANY) return patterns
  const counts = countWords(patterns)
  const families = group(patterns, ({ words }) =>
    wordsKey(words.map((word, place) => frequent(counts, word, place))),
  )
  return [...families].flatMap(([key, family]) => (isOneTemplate(key, family) ? [unite(family)] : family))
}

type Counts = readonly ReadonlyMap<string, number>[]

function countWords(patterns: readonly Pattern[]): Counts {
  const counts = (patterns[0]?.words ?? []).map(() => new Map<string, number>())
  for (const { words } of patterns) {
    words.forEach((word, place) => counts[place]?.set(word, (counts[place].get(word) ?? 0) + 1))
  }
  return counts
}

function frequent(counts: Counts, word: string, place: number): string {
  return !isRealWord(word) || (counts[place]?.get(word) ?? 0) >= MANY ? word : VALUE
}

function isOneTemplate(key: string, family: readonly Pattern[]): boolean {
  if (family.length < MANY) return false
  const words = keyWords(key)
  if (countMeaningfulWords(words) < MIN_SHARED_WORDS) return false
  const start = words.findIndex((word) => word === VALUE || isRealWord(word))
  return words.every((_, place) => {
    const values = new Set(family.map((pattern) => pattern.words[place] ?? ''))
    return values.size === 1 || (place !== start && areValues([...values]))
  })
}

function areValues(words: readonly string[]): boolean {
  return words.length >= MIN_VALUES && commonKind(words.filter((word) => word !== VALUE)) !== 'state'
}
