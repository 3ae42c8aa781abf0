import { group } from 'd3-array'

import type { Pattern } from '../model/pattern.js'
import { firstRow, keepPlaces, wordsKey, uniteEqual, coverage } from '../model/pattern.js'
import { absorbInstances, joinCrossing } from './absorb-instances.js'
import { joinPhrases, joinSubjects } from './join-subjects.js'
import { mergeDotted, mergeFields } from './merge-dotted.js'
import { mergeSiblings } from './merge-siblings.js'
import { isMessageField } from '../masking/mask-quoted.js'
import { VALUE } from '../masking/scan-words.js'
import { isClosing, isOpening } from '../masking/characters.js'

/**
 * Unites patterns that are one template with different values, in order of first appearance. Each
 * pass unites the patterns that the passes before it made alike.
 */
export function mergePatterns(patterns: readonly Pattern[]): readonly Pattern[] {
  const byLength = group(joinSubjects(joinNamedAddresses(patterns)), ({ words }) => words.length)
  const merged = [...byLength.values()].flatMap((alike) =>
    absorbInstances(joinCrossing(mergeSiblings(mergeFields(mergeDotted(alike))))),
  )
  return fillEmptyPlaces(joinPhrases(merged)).toSorted((a, b) => firstRow(a) - firstRow(b))
}

/** The name, the colon and the port. */
const PARTS = 3
const NAME = /^[A-Za-z][\w.-]*$/

/**
 * Makes a name with a port (`broker:9092`) a value if other lines have a value between the same
 * words, and unites patterns that are equal then.
 */
function joinNamedAddresses(patterns: readonly Pattern[]): readonly Pattern[] {
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

const WIDE_GAP = 2
const STAND_INS = new Set(['-', '.', '?'])

/**
 * Unites a pattern with the one that has a value at its empty place: `from ()` with `from (<*>)`,
 * `user= ` with `user=<*>`, two spaces with a value between them, and a mark such as `-` with a
 * value.
 */
function fillEmptyPlaces(patterns: readonly Pattern[]): readonly Pattern[] {
  const unique = uniteEqual(patterns)
  const remaining = new Map(unique.map((pattern) => [wordsKey(pattern.words), pattern]))
  // Shorter ones first: a filled pattern may have a second empty place.
  for (const { words } of unique.toSorted((a, b) => a.words.length - b.words.length)) {
    const key = wordsKey(words)
    const pattern = remaining.get(key)
    const fuller = pattern && fullerOf(pattern, remaining)
    if (pattern === undefined || fuller === undefined) continue
    const ordered = [pattern, fuller].toSorted((a, b) => firstRow(a) - firstRow(b))
    remaining.delete(key)
    remaining.set(wordsKey(fuller.words), { ...fuller, ...coverage(ordered) })
  }
  return [...remaining.values()]
}

function fullerOf(pattern: Pattern, patterns: ReadonlyMap<string, Pattern>): Pattern | undefined {
  if (pattern.isFixed) return undefined
  for (const place of emptyPlaces(pattern)) {
    const fuller = patterns.get(
      wordsKey(pattern.words.toSpliced(place, isStandIn(pattern, place) ? 1 : 0, VALUE)),
    )
    if (fuller !== undefined) return fuller
  }
  return undefined
}

function emptyPlaces(pattern: Pattern): number[] {
  const { words, gaps } = pattern
  const places = [...words.keys()].filter(
    (place) => isStandIn(pattern, place) || isEmptyBefore(words, gaps, place),
  )
  return words.at(-1) === '=' ? [...places, words.length] : places
}

/** A mark for an unknown value, surrounded by spaces: `for . [10.0.0.1]`. */
function isStandIn({ words, gaps }: Pattern, place: number): boolean {
  const isAlone = (gaps[place] ?? 0) > 0 && (gaps[place + 1] ?? 1) > 0
  return isAlone && place > 0 && STAND_INS.has(words[place] ?? '')
}

function isEmptyBefore(words: readonly string[], gaps: readonly number[], place: number): boolean {
  const before = words[place - 1]
  const gap = gaps[place] ?? 0
  if (before === undefined) return false
  if (isOpening(before) && isClosing(words[place] ?? '')) return true
  if ((before === '"' || before === "'") && words[place] === before && gap === 0) return true
  return gap === WIDE_GAP || (before === '=' && (gap > 0 || ',;)]}'.includes(words[place] ?? '')))
}
