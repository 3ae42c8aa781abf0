import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import type { Pattern } from '../model/pattern.js'
import { coverage, firstRow, wordsKey } from '../model/pattern.js'

/** `(`, the value, `)`. */
const REMARK = 3

/**
 * Unites patterns that differ in remarks behind a value only, which programs write for some values and not for others:
 * `12 KB (1.1 KB) sent` and `12 bytes sent`. Where all lines have the remark it stays.
 */
export function dropRemarks(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = group(patterns, (pattern) => wordsKey(withoutRemarks(pattern).words))
  return [...families.values()].flatMap((family) => {
    if (family.length === 1) return family
    const ordered = family.toSorted((a, b) => firstRow(a) - firstRow(b))
    return ordered.slice(0, 1).map((first) => ({ ...withoutRemarks(first), ...coverage(ordered) }))
  })
}

function withoutRemarks(pattern: Pattern): Pattern {
  const { words, gaps } = pattern
  const starts = [...words.keys()].filter((place) => isRemark(pattern, place))
  if (starts.length === 0) return pattern
  const isKept = (place: number): boolean => !starts.some((start) => place >= start && place < start + REMARK)
  const kept = [...words.keys()].filter(isKept)
  return { ...pattern, words: kept.map((at) => words[at] ?? ''), gaps: kept.map((at) => gaps[at] ?? 0) }
}

function isRemark({ words, gaps, isFixed }: Pattern, place: number): boolean {
  if (isFixed || words[place - 1] !== VALUE || (gaps[place] ?? 0) === 0) return false
  return words[place] === '(' && words[place + 1] === VALUE && words[place + 2] === ')'
}
