import { group } from 'd3-array'

import { unite, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

/** One pattern for all that have the same words. */
export function uniteEqual(patterns: readonly Pattern[]): readonly Pattern[] {
  return [...group(patterns, ({ words }) => wordsKey(words)).values()].map(unite)
}
