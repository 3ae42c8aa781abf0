import { group } from 'd3-array'

import { isMessageField } from '../masking/mask-quoted.js'
import { VALUE } from '../masking/scan-words.js'
import { NAMING_WORDS } from '../masking/vocabulary.js'
import { unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import {
  commonKind,
  countMeaningfulWords,
  isCompoundName,
  isDottedName,
  isRealWord,
  mayBeCause,
} from './word-kind.js'

const MIN_DIFFERENT = 3
const QUOTES: ReadonlySet<string> = new Set(['"', "'", '`'])
const JOINTS: ReadonlySet<string> = new Set(['=', ':'])
const MIN_SHARED_WORDS = 2
/** Minimum number of patterns that differ in values of fields, and of the fields that vary. */
const MIN_RECORDS = 5
const MIN_FIELDS = 2

/**
 * Unites patterns of one length that differ only in dotted names, at any number of places:
 * `Registering class a.B for class c.D` has no siblings, since both names change together.
 */
export function mergeDotted(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = group(patterns, (pattern) => wordsKey(withoutNames(pattern))).values()
  return [...families].flatMap((family) => (isOneTemplate(family) ? [unite(family)] : family))
}

function withoutNames({ words, isFixed }: Pattern): readonly string[] {
  if (isFixed) return words
  const start = words.findIndex((word) => word === VALUE || isRealWord(word))
  return words.map((word, place) => (place > start && isName(words, place) ? VALUE : word))
}

/** Whether it is a name in parts, or a single word in quotes that are not a field's. */
function isName(words: readonly string[], place: number): boolean {
  const word = words[place] ?? ''
  if (isCompoundName(word)) return isDottedName(word) || !statesOutcome(words, place)
  const quote = words[place - 1] ?? ''
  return (
    QUOTES.has(quote) &&
    words[place + 1] === quote &&
    !JOINTS.has(words[place - 2] ?? '') &&
    words[place + 2] !== ':' &&
    commonKind([word]) !== 'state' &&
    isRealWord(word)
  )
}

/**
 * `reason=DiskFull`, `failed: DiskFull` and `failed with disk_full` are outcomes; `failed job
 * MailJob` contains a name.
 */
function statesOutcome(words: readonly string[], place: number): boolean {
  const before = words[place - 1] ?? ''
  const joint = QUOTES.has(before) ? place - 2 : place - 1
  if (words[joint] === '=') return isMessageField(words[joint - 1] ?? '')
  return mayBeCause(words, place) && !NAMING_WORDS.has(before.toLowerCase())
}

function isOneTemplate(family: readonly Pattern[]): boolean {
  const [first] = family
  if (first === undefined || family.length < 2) return false
  const shared = countMeaningfulWords(withoutNames(first))
  const isValueElsewhere = family.some(
    ({ words }) => !words.some((_, place) => place > 0 && isName(words, place)),
  )
  return shared >= MIN_SHARED_WORDS && (family.length >= MIN_DIFFERENT || isValueElsewhere)
}

/**
 * Unites patterns of one length that differ only in the unquoted values of fields, at several of
 * them: records such as `name=tmp dev=hda2 tclass=dir` have hardly any siblings. One varying field
 * alone may tell kinds of messages apart, as fields with states and causes do.
 */
export function mergeFields(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = group(patterns, ({ words, isFixed }) =>
    wordsKey(isFixed ? words : words.map((word, place) => (isFieldValue(words, place) ? VALUE : word))),
  ).values()
  return [...families].flatMap((family) => (isOneRecord(family) ? [unite(family)] : family))
}

function isFieldValue(words: readonly string[], place: number): boolean {
  const name = words[place - 2] ?? ''
  return words[place - 1] === '=' && isRealWord(words[place] ?? '') && !isMessageField(name)
}

function isOneRecord(family: readonly Pattern[]): boolean {
  const [first] = family
  if (first === undefined || family.length < MIN_RECORDS) return false
  const varying = first.words.filter((word, place) => family.some(({ words }) => words[place] !== word))
  return varying.length >= MIN_FIELDS
}
