import { group, rollup } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { unite, wordsKey, coverage, firstRow } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { countMeaningfulWords, isCompoundName, isRealWord } from './word-kind.js'

const MIN_NAMES = 3
const MIN_FRAMES = 2
const MIN_SHARED_WORDS = 2
/** `send-invoices`, as jobs, services and queues are named. */
const HYPHENATED = /^\p{Ll}[\p{Ll}\d]*(?:-[\p{Ll}\d]+)+$/u

/** A pattern as its first word and the rest. */
interface Subject {
  readonly pattern: Pattern
  readonly name: string
  readonly frame: string
}

/**
 * Unites patterns that differ in a subject with a name in parts: `MailJob took <*>` and `StockJob
 * took <*>`, if other messages have the same subjects. Needs three such names, each in two
 * messages; other names in two of these messages belong to them.
 */
export function joinSubjects(patterns: readonly Pattern[]): readonly Pattern[] {
  const subjects = patterns.map(subjectOf).filter((subject) => subject !== undefined)
  const known = namesOfSeveral(subjects)
  const families = [...group(subjects, ({ frame }) => frame).values()].filter(
    (family) => family.filter(({ name }) => known.has(name)).length >= MIN_NAMES,
  )
  const timesNamed = rollup(
    families.flat(),
    (same) => same.length,
    ({ name }) => name,
  )
  const members = families.map((family) =>
    family.filter(({ name }) => isNameInParts(name) || (timesNamed.get(name) ?? 0) >= MIN_FRAMES),
  )
  const taken = new Set(members.flat().map(({ pattern }) => pattern))
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...members.map(uniteSubjects)]
}

/** The names in parts with several messages. */
function namesOfSeveral(subjects: readonly Subject[]): ReadonlySet<string> {
  const named = group(
    subjects.filter(({ name }) => isNameInParts(name)),
    ({ name }) => name,
  )
  const several = [...named].filter(([, same]) => new Set(same.map(({ frame }) => frame)).size >= MIN_FRAMES)
  return new Set(several.map(([name]) => name))
}

function uniteSubjects(members: readonly Subject[]): Pattern {
  const whole = unite(members.map(({ pattern }) => pattern))
  return { ...whole, words: whole.words.with(0, VALUE) }
}

function subjectOf(pattern: Pattern): Subject | undefined {
  const [name = '', ...others] = pattern.words
  if (pattern.isFixed || !isRealWord(name) || countMeaningfulWords(others) < MIN_SHARED_WORDS)
    return undefined
  return { pattern, name, frame: wordsKey(others) }
}

function isNameInParts(name: string): boolean {
  return isCompoundName(name) || HYPHENATED.test(name)
}

const MIN_PHRASES = 5

/** A pattern as its first word, a name of one or more words, and the rest. */
interface Phrase {
  readonly pattern: Pattern
  readonly frame: string
  readonly name: string
  readonly end: number
}

/**
 * Unites patterns that differ in a name of one or more words after their first word: `Started
 * Network Manager.`, if `Stopped Network Manager.` shows that it is a name. Needs `MIN_PHRASES`
 * such names, half of them with more than one word.
 */
export function joinPhrases(patterns: readonly Pattern[]): readonly Pattern[] {
  const named = patterns.map(phraseOf).filter((one) => one !== undefined)
  const framesOf = group(named, ({ name }) => name)
  const shared = named.filter(({ name }) => (framesOf.get(name)?.length ?? 0) >= MIN_FRAMES)
  const families = [...group(shared, ({ frame }) => frame).values()].filter(
    (family) =>
      family.length >= MIN_PHRASES && family.filter(({ end }) => end > 2).length * 2 >= family.length,
  )
  const taken = new Set(families.flat().map(({ pattern }) => pattern))
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...families.map(unitePhrases)]
}

function phraseOf(pattern: Pattern): Phrase | undefined {
  const { words, isFixed } = pattern
  if (isFixed || words.includes(VALUE) || !isRealWord(words[0] ?? '') || !/^\p{Lu}/u.test(words[1] ?? ''))
    return undefined
  const end = words.findLastIndex(isRealWord) + 1
  const frame = wordsKey([...words.slice(0, 1), ...words.slice(end)])
  return { pattern, frame, name: wordsKey(words.slice(1, end)), end }
}

function unitePhrases(family: readonly Phrase[]): Pattern {
  const ordered = family.toSorted((a, b) => firstRow(a.pattern) - firstRow(b.pattern))
  const [{ pattern, end }] = ordered as [Phrase]
  return {
    ...pattern,
    words: [pattern.words[0] ?? '', VALUE, ...pattern.words.slice(end)],
    gaps: [...pattern.gaps.slice(0, 2), ...pattern.gaps.slice(end)],
    ...coverage(ordered.map((one) => one.pattern)),
  }
}
