import { VALUE } from '../masking/scan-words.js'
import { keepPlaces } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { uniteEqual } from './unite-equal.js'

/**
 * Two values with a colon and no space between them are one (`libc:amd64`), as they are where masking alone finds both. Unites
 * what is the same after that.
 */
export function joinGluedValues(patterns: readonly Pattern[]): readonly Pattern[] {
  return uniteEqual(patterns.map(withoutGlue))
}

function withoutGlue(pattern: Pattern): Pattern {
  const { words, gaps } = pattern
  const kept = [...words.keys()].filter(
    (place) => !isGlued(words, gaps, place) && !isGlued(words, gaps, place - 1),
  )
  return kept.length === words.length ? pattern : keepPlaces(pattern, kept)
}

/** Whether the word is a colon right between two values. */
function isGlued(words: readonly string[], gaps: readonly number[], place: number): boolean {
  const isBetween = words[place] === ':' && words[place - 1] === VALUE && words[place + 1] === VALUE
  return isBetween && gaps[place] === 0 && gaps[place + 1] === 0
}
