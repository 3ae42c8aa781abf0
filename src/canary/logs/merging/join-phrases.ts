import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { coverage, firstRow, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { isRealWord } from './word-kind.js'

const MIN_NAMES = 5
const MIN_FRAMES = 2

/** A pattern as its first word, a name of one or more words, and the rest. */
interface Named {
  readonly pattern: Pattern
  readonly frame: string
  readonly name: string
  readonly end: number
}

/**
 * Unites patterns that differ in a name of one or more words after their first word: `Started
 * Network Manager.`, if `Stopped Network Manager.` shows that it is a name. Needs `MIN_NAMES` such
 * names, half of them with more than one word.
 */
export function joinPhrases(patterns: readonly Pattern[]): readonly Pattern[] {
  const named = patterns.map(namedOf).filter((one) => one !== undefined)
  const framesOf = group(named, ({ name }) => name)
  const shared = named.filter(({ name }) => (framesOf.get(name)?.length ?? 0) >= MIN_FRAMES)
  const families = [...group(shared, ({ frame }) => frame).values()].filter(
    (family) => family.length >= MIN_NAMES && family.filter(({ end }) => end > 2).length * 2 >= family.length,
  )
  const taken = new Set(families.flat().map(({ pattern }) => pattern))
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...families.map(unitePhrases)]
}

function namedOf(pattern: Pattern): Named | undefined {
  const { words, isFixed } = pattern
  if (isFixed || words.includes(VALUE) || !isRealWord(words[0] ?? '') || !/^\p{Lu}/u.test(words[1] ?? ''))
    return undefined
  const end = words.findLastIndex(isRealWord) + 1
  const frame = wordsKey([...words.slice(0, 1), ...words.slice(end)])
  return { pattern, frame, name: wordsKey(words.slice(1, end)), end }
}

function unitePhrases(family: readonly Named[]): Pattern {
  const ordered = family.toSorted((a, b) => firstRow(a.pattern) - firstRow(b.pattern))
  const [{ pattern, end }] = ordered as [Named]
  return {
    ...pattern,
    words: [pattern.words[0] ?? '', VALUE, ...pattern.words.slice(end)],
    gaps: [...pattern.gaps.slice(0, 2), ...pattern.gaps.slice(end)],
    ...coverage(ordered.map((one) => one.pattern)),
  }
}
