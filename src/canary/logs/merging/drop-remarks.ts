import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import type { Pattern } from '../model/pattern.js'
import { coverage, firstRow, keepPlaces, wordsKey } from '../model/pattern.js'

/** Words of a remark, its brackets among them: `(5 already there)`. */
const LONGEST_REMARK = 6
/** `(`, the value, `)`. */
const SHORTEST_REMARK = 3

/**
 * Unites patterns that differ in remarks behind a value only, which programs write for some values and not for others:
 * `12 KB (1.1 KB) sent` and `12 bytes sent`. Where all lines have the remark it stays.
 */
export function dropRemarks(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = group(patterns, (pattern) => wordsKey(withoutRemarks(pattern).words))
  return [...families.values()].flatMap((family) => {
    if (family.length === 1 || !family.some(isPlain)) return family
    const ordered = family.toSorted((a, b) => firstRow(a) - firstRow(b))
    return ordered.slice(0, 1).map((first) => ({ ...withoutRemarks(first), ...coverage(ordered) }))
  })
}

function withoutRemarks(pattern: Pattern): Pattern {
  const { words } = pattern
  const kept: number[] = []
  for (let place = 0; place < words.length; place += 1) {
    place += remarkLength(pattern, place)
    if (place < words.length) kept.push(place)
  }
  return kept.length === words.length ? pattern : keepPlaces(pattern, kept)
}

/** Without remarks that hold words: two different ones are two messages where none goes without. */
function isPlain(pattern: Pattern): boolean {
  return !pattern.words.some((_, place) => remarkLength(pattern, place) > SHORTEST_REMARK)
}

/** How many words the remark has that begins here, 0 where none does. */
function remarkLength({ words, gaps, isFixed }: Pattern, place: number): number {
  if (isFixed || words[place] !== '(' || words[place - 1] !== VALUE || (gaps[place] ?? 0) === 0) return 0
  const inner = words.slice(place + 1, place + LONGEST_REMARK)
  const length = inner.indexOf(')')
  const hasValue = length > 0 && inner.slice(0, length).includes(VALUE)
  return hasValue && !inner.slice(0, length).includes('(') ? length + 2 : 0
}
