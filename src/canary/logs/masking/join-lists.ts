import { isClosing, isOpening } from './characters.js'
import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'

/** This many values in a row are a list, however long the next one is. */
const SHORTEST_LIST = 3
const SHORTEST_BRACKETED_LIST = 2
/** Of values and marks for what is not known, two of them values at the least. */
const SHORTEST_WITH_MARKS = 4
const MARKS: ReadonlySet<string> = new Set(['-', 'null', 'none', 'nil'])

/** One value for a list of values. */
export function joinLists({ words, gaps }: ScannedLine): ScannedLine {
  const joined: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    joined.words.push(word)
    joined.gaps.push(gaps[at] ?? 0)
    if (word !== VALUE) continue
    const row = rowFrom(words, at)
    if (row > at) {
      at = row
      continue
    }
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

/** Where a row of values with a mark among them ends that begins here (`200 17 - 12ms` as well as `200 17 text/html 12ms`); the same place where there is none. */
function rowFrom(words: readonly string[], start: number): number {
  let end = start
  while (words[end + 1] === VALUE || MARKS.has(words[end + 1] ?? '')) end += 1
  // At the end of the line two marks are values that are not known.
  if (end === start + 2 && end === words.length - 1 && MARKS.has(words[end] ?? '')) return end
  while (MARKS.has(words[end] ?? '')) end -= 1
  const row = words.slice(start, end + 1)
  return row.length >= SHORTEST_WITH_MARKS && row.length > countValues(row) ? end : start
}

function countValues(row: readonly string[]): number {
  return row.filter((word) => word === VALUE).length
}
