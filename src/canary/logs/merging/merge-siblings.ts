import { VALUE } from '../masking/scan-words.js'
import { unite } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { findSiblings } from './find-siblings.js'
import { isVariable } from './is-variable.js'
import { uniteEqual } from './unite-equal.js'

/** A template rarely has more places than this that only many lines show to be values. */
const MAX_ROUNDS = 6

/** Unites patterns of one length that differ at one place only, where that place holds a value. */
export function mergeSiblings(patterns: readonly Pattern[]): readonly Pattern[] {
  let current = patterns
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = mergeOnce(current)
    if (next.length === current.length) break
    current = next
  }
  return current
}

function mergeOnce(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = findSiblings(patterns)
    .filter(({ place, siblings }) => isVariable(place, siblings))
    .toSorted((a, b) => b.siblings.length - a.siblings.length)
  const taken = new Set<Pattern>()
  const united: Pattern[] = []
  for (const { place, siblings } of families) {
    // A pattern may have siblings at several places: the largest family takes it, the others wait for the next round.
    if (siblings.some((pattern) => taken.has(pattern))) continue
    for (const pattern of siblings) taken.add(pattern)
    const whole = unite(siblings)
    united.push({ ...whole, words: whole.words.with(place, VALUE) })
  }
  return uniteEqual([...patterns.filter((pattern) => !taken.has(pattern)), ...united])
}
