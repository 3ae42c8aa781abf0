import { maskQuoted } from './mask-quoted.js'
import { isClosing, isOpening } from './characters.js'
import { scanWords, VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'
import { CONTEXT_WORDS, UNITS } from './vocabulary.js'
import type { ContextKind } from './vocabulary.js'

/** Maximum number of masked characters. Longer lines carry documents, whose ends rarely matter. */
const MAX_MASKED_CHARACTERS = 2048

/**
 * The words of a line, with `VALUE` for each word that is a value by its shape or its neighbours.
 */
export function maskLine(text: string): ScannedLine {
  const line = scanWords(beginning(text))
  markByNeighbours(line.words)
  return joinLists(joinObjects(joinValues(maskQuoted(line))))
}

/** Cuts between words: half a word would be another word. */
function beginning(text: string): string {
  if (text.length <= MAX_MASKED_CHARACTERS) return text
  const end = text.lastIndexOf(' ', MAX_MASKED_CHARACTERS)
  return text.slice(0, end > 0 ? end : MAX_MASKED_CHARACTERS)
}

function markByNeighbours(words: string[]): void {
  for (let at = 0; at < words.length; at += 1) {
    const kind = CONTEXT_WORDS.get(words[at] ?? '')
    if (kind !== undefined && isValueHere(kind, words, at)) words[at] = VALUE
  }
}

function isValueHere(kind: ContextKind, words: readonly string[], at: number): boolean {
  const before = words[at - 1] ?? ''
  const after = words[at + 1] ?? ''
  switch (kind) {
    case 'truth':
      return true
    case 'state':
      return isFieldValue(before, after) || isAnswer(words, at)
    case 'time':
      return before === VALUE
    case 'date':
      return before === VALUE || isDatePart(after) || isDatePart(words[at + 2] ?? '')
  }
}

/** After `=`, or alone or in a list within brackets. */
function isFieldValue(before: string, after: string): boolean {
  if (before === '=') return true
  if (before === VALUE) return isClosing(after)
  return isOpening(before) && (isClosing(after) || CONTEXT_WORDS.get(after) === 'state')
}

/** After a colon and without a following word: `required: yes`, but not `error: no entry`. */
function isAnswer(words: readonly string[], at: number): boolean {
  const after = words[at + 1]
  return words[at - 1] === ':' && (after === undefined || (after !== VALUE && !/[\p{L}"']/u.test(after)))
}

function isDatePart(word: string): boolean {
  return word === VALUE || CONTEXT_WORDS.get(word) === 'date'
}

/**
 * Joins `10.0.0.1:80`, `07:01:02`, `1,234`, a number with its unit, and a quoted name that holds a
 * value into one value.
 */
function joinValues({ words, gaps }: ScannedLine): ScannedLine {
  const joined: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const gap = gaps[at] ?? 0
    if (joined.words.at(-1) === VALUE) {
      if (isJoint(word, gap) && words[at + 1] === VALUE && gaps[at + 1] === 0) {
        at += 1
        continue
      }
      if (gap <= 1 && UNITS.has(word)) {
        dropComparison(joined, words[at + 1])
        continue
      }
      if (word === '"' && gap === 0) joinQuoted(joined)
      if (word === ']' && gap === 0 && joinRange(joined)) continue
    }
    joined.words.push(word)
    joined.gaps.push(gap)
  }
  return joined
}

function isJoint(word: string, gap: number): boolean {
  return gap === 0 && (word === ':' || word === ',')
}

/** `<1 sec` is a duration like any other. */
function dropComparison({ words, gaps }: ScannedLine, next: string | undefined): void {
  const last = words.length - 1
  if (words[last - 1] !== '<' || next === '>' || gaps[last] !== 0) return
  words.splice(last - 1, 1)
  gaps.splice(last, 1)
}

/** `"SCSI-WWID:<*>"` is one name: there is no space between the quotes. */
function joinQuoted({ words, gaps }: ScannedLine): void {
  const opening = words.lastIndexOf('"')
  if (opening < 0 || gaps.slice(opening + 1).some((gap) => gap > 0)) return
  words.splice(opening + 1, words.length - opening - 1, VALUE)
  gaps.splice(opening + 1, gaps.length - opening - 1, 0)
}

/** `node-[40-63]` are many hosts written as one. Returns whether it was such a range. */
function joinRange({ words, gaps }: ScannedLine): boolean {
  const [stem, bracket] = words.slice(-3)
  if (bracket !== '[' || !stem?.endsWith('-') || gaps.at(-1) !== 0 || gaps.at(-2) !== 0) return false
  words.splice(-3, 3, VALUE)
  gaps.splice(-2, 2)
  return true
}

/**
 * Joins the content of a printed object after its identity into one value: `Token{a64f992
 * Record{de9231d app t761 f}}`.
 */
function joinObjects(line: ScannedLine): ScannedLine {
  if (!line.words.includes('{')) return line
  const joined: ScannedLine = { words: [], gaps: [] }
  let at = 0
  while (at < line.words.length) {
    joined.words.push(line.words[at] ?? '')
    joined.gaps.push(line.gaps[at] ?? 0)
    at = isIdentity(line, at) ? closingBrace(line.words, at) : at + 1
  }
  return joined
}

/**
 * Whether this is the value right after the brace of a named object, with more of the object after
 * a space.
 */
function isIdentity({ words, gaps }: ScannedLine, at: number): boolean {
  if (words[at] !== VALUE || words[at - 1] !== '{' || gaps[at] !== 0 || gaps[at - 1] !== 0) return false
  return /^\p{L}/u.test(words[at - 2] ?? '') && (gaps[at + 1] ?? 0) > 0
}

/** The place of the brace that closes the one before `start`, or the next place if none does. */
function closingBrace(words: readonly string[], start: number): number {
  let depth = 1
  for (let at = start + 1; at < words.length; at += 1) {
    if (words[at] === '{') depth += 1
    if (words[at] === '}') depth -= 1
    if (depth === 0) return at
  }
  return start + 1
}

/** Minimum length of a list of values. */
const SHORTEST_LIST = 3
const SHORTEST_BRACKETED_LIST = 2
/** Minimum length of a row of values and marks for unknown values, at least two of them values. */
const SHORTEST_WITH_MARKS = 4
const MARKS: ReadonlySet<string> = new Set(['-', 'null', 'none', 'nil'])

/** One value for a list of values. */
function joinLists({ words, gaps }: ScannedLine): ScannedLine {
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

/**
 * The end of a row of values with a mark among them that begins here (`200 17 - 12ms` as well as
 * `200 17 text/html 12ms`), or `start` if there is none.
 */
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
