import { isClosing, isOpening } from '../masking/characters.js'
import { VALUE } from '../masking/scan-words.js'
import { coverage, firstRow, wordsKey, uniteEqual } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

const WIDE_GAP = 2
const STAND_INS = new Set(['-', '.', '?'])

/**
 * Unites a pattern with the one that has a value where its own is empty: `from ()` with `from
 * (<*>)`, `user= ` with `user=<*>`, two spaces with a value between them, and a mark such as `-`
 * with a value in its place.
 */
export function fillEmptyPlaces(patterns: readonly Pattern[]): readonly Pattern[] {
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
