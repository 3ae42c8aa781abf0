import { cross, group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { countMeaningfulWords } from './word-kind.js'
import { mayBeValue, placesOfWords } from './absorb-instances.js'

const MIN_SHARED_WORDS = 3
/** Sets of places of one length that are tried in pairs. */
const MAX_SHAPES = 20

/**
 * Unites patterns of one length that differ only where the one or the other is known to hold
 * values: `name=<*> cmd=get` and `name=web cmd=<*>`.
 */
export function joinCrossing(patterns: readonly Pattern[]): readonly Pattern[] {
  const shapes = [...group(patterns, (pattern) => placesOfWords(pattern).join())]
    .filter(([places]) => places !== '')
    .slice(0, MAX_SHAPES)
  const taken = new Set<Pattern>()
  const united: Pattern[] = []
  for (const [[one, ones], [other, others]] of cross(shapes, shapes)) {
    if (one >= other) continue
    const places = new Set(`${one},${other}`.split(',').map(Number))
    const free = [...ones, ...others].filter((pattern) => !taken.has(pattern))
    for (const family of group(free, (pattern) => keyWithout(pattern, places)).values()) {
      const fromOne = family.filter((pattern) => ones.includes(pattern)).length
      if (fromOne === 0 || fromOne === family.length) continue
      for (const pattern of family) taken.add(pattern)
      united.push(unite(family))
    }
  }
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...united]
}

function keyWithout({ words }: Pattern, places: ReadonlySet<number>): string {
  const masked = words.map((word, place) => (places.has(place) && mayBeValue(word) ? VALUE : word))
  return countMeaningfulWords(masked) < MIN_SHARED_WORDS ? wordsKey(words) : wordsKey(masked)
}
