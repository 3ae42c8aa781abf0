import { addressEnd } from './address.js'
import { CHARACTER, characterClass, rangeEnd } from './characters.js'
import { locationEnd } from './location.js'
import { isValueWord } from './value-word.js'

/** How a value is written in templates. A line cannot hold it as one word: its brackets are words of their own. */
export const VALUE = '<*>'

/** A line in words and punctuation. */
export interface ScannedLine {
  readonly words: string[]
  /** Spaces before each word: 0, 1, or 2 for more than one. */
  readonly gaps: number[]
}

const APOSTROPHE = 0x27
const DOT = 0x2e
const SENTENCE_ENDS = '.!?'

/** Cuts a line into words, each word that is a value by its own shape replaced by `VALUE`. */
export function scanWords(text: string): ScannedLine {
  const line: ScannedLine = { words: [], gaps: [] }
  let at = 0
  let gap = 0
  while (at < text.length) {
    const kind = characterClass(text.charCodeAt(at))
    if (kind === CHARACTER.space) {
      gap = Math.min(2, gap + 1)
      at += 1
      continue
    }
    at = kind === CHARACTER.delimiter ? takeDelimiter(text, at, gap, line) : takeWord(text, at, gap, line)
    gap = 0
  }
  return line
}

function takeDelimiter(text: string, at: number, gap: number, line: ScannedLine): number {
  const address = addressEnd(text, at, at)
  push(line, address > at ? VALUE : text.charAt(at), gap)
  return Math.max(address, at + 1)
}

function takeWord(text: string, start: number, gap: number, line: ScannedLine): number {
  const { end, digits } = wordEnd(text, start)
  const whole = Math.max(
    addressEnd(text, start, end),
    locationEnd(text, start, end),
    rangeEnd(text, start, end),
  )
  if (whole > end) {
    push(line, VALUE, gap)
    return whole
  }
  const trimmed = withoutSentenceEnd(text, start, end)
  if (trimmed > start) {
    const word = text.slice(start, trimmed)
    const isValue = isValueWord(word, digits, text.charAt(start - 1), text.slice(end, end + 2))
    push(line, isValue ? VALUE : word, gap)
  }
  if (trimmed < end) push(line, text.slice(trimmed, end), trimmed > start ? 0 : gap)
  return end
}

function wordEnd(text: string, start: number): { readonly end: number; readonly digits: number } {
  let digits = 0
  let end = start
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    const kind = characterClass(code)
    if (kind === CHARACTER.digit) digits += 1
    else if (kind === CHARACTER.space) break
    else if (kind === CHARACTER.delimiter && !(code === APOSTROPHE && isWithinWord(text, end, start))) break
    else if (code === DOT && isLeader(text, end, start)) break
  }
  return { end, digits }
}

function isWithinWord(text: string, at: number, start: number): boolean {
  return at > start && isLetter(text, at - 1) && isLetter(text, at + 1)
}

function isLetter(text: string, at: number): boolean {
  return at < text.length && characterClass(text.charCodeAt(at)) === CHARACTER.letter
}

/** Whether a row of dots begins or ends here: `exception.......0` is a word, dots and a number. */
function isLeader(text: string, at: number, start: number): boolean {
  if (at === start) return false
  const isBehindDots = text.charCodeAt(start) === DOT && text.charCodeAt(start + 1) === DOT
  return !isBehindDots && text.charCodeAt(at + 1) === DOT
}

function withoutSentenceEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && SENTENCE_ENDS.includes(text.charAt(at - 1))) at -= 1
  return at
}

function push(line: ScannedLine, word: string, gap: number): void {
  line.words.push(word)
  line.gaps.push(gap)
}
