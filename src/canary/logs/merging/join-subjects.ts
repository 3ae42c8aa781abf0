import { group, rollup } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { unite, wordsKey } from '../model/pattern.js'
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
