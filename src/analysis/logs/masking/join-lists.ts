import { isClosing, isOpening } from './characters.js'
import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'

/** This many values in a row are a list, however long the next one is. */
const SHORTEST_LIST = 3
const SHORTEST_BRACKETED_LIST = 2

/** One value for a list of values. */
export function joinLists({ words, gaps }: ScannedLine): ScannedLine {
  const joined: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    joined.words.push(word)
    joined.gaps.push(gaps[at] ?? 0)
    if (word !== VALUE) continue
    const { end, length } = listFrom(words, at)
    const isBracketed = isOpening(words[at - 1] ?? '') && isClosing(words[end] ?? '')
    if (length >= (isBracketed ? SHORTEST_BRACKETED_LIST : SHORTEST_LIST)) at = end - 1
  }
  return joined
}

function listFrom(
  words: readonly string[],
  start: number,
): { readonly end: number; readonly length: number } {
  let end = start + 1
  let length = 1
  for (;;) {
    const separators = words[end] === ',' || words[end] === ';' ? 1 : 0
    if (words[end + separators] !== VALUE) return { end, length }
    end += separators + 1
    length += 1
  }
}
