import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { countMeaningfulWords, isCompoundName, isRealWord } from './word-kind.js'

const LEAST_NAMES = 3
const LEAST_FRAMES = 2
const LEAST_SHARED_WORDS = 2
/** `send-invoices`, as jobs, services and queues are named. */
const HYPHENATED = /^\p{Ll}[\p{Ll}\d]*(?:-[\p{Ll}\d]+)+$/u

/** A pattern that begins with a word, and what stands behind it. */
interface Subject {
  readonly pattern: Pattern
  readonly name: string
  readonly frame: string
}

/**
 * Unites patterns that say the same of different subjects with names in parts: `MailJob took <*>` and `StockJob took <*>`, where other lines
 * say something else of them. Three such names are needed, each in front of two messages; others that stand in front of two of these belong to them.
 */
export function joinSubjects(patterns: readonly Pattern[]): readonly Pattern[] {
  const subjects = patterns.map(subjectOf).filter((subject) => subject !== undefined)
  const framesOf = group(subjects, ({ name }) => name)
  const isKnown = ({ name }: Subject): boolean =>
    isNameInParts(name) && new Set(framesOf.get(name)?.map(({ frame }) => frame)).size >= LEAST_FRAMES
  const families = [...group(subjects, ({ frame }) => frame).values()].filter(
    (family) => family.filter(isKnown).length >= LEAST_NAMES,
  )
  if (families.length === 0) return patterns
  const countOf = group(families.flat(), ({ name }) => name)
  const taken = new Set<Pattern>()
  const united = families.flatMap((family) => {
    const members = family.filter(
      ({ name }) => isNameInParts(name) || (countOf.get(name)?.length ?? 0) >= LEAST_FRAMES,
    )
    for (const { pattern } of members) taken.add(pattern)
    const whole = unite(members.map(({ pattern }) => pattern))
    return [{ ...whole, words: whole.words.with(0, VALUE) }]
  })
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...united]
}

function subjectOf(pattern: Pattern): Subject | undefined {
  const [name = '', ...others] = pattern.words
  if (pattern.isFixed || !isRealWord(name) || countMeaningfulWords(others) < LEAST_SHARED_WORDS)
    return undefined
  return { pattern, name, frame: wordsKey(others) }
}

function isNameInParts(name: string): boolean {
  return isCompoundName(name) || HYPHENATED.test(name)
}
