import { joinLists } from './join-lists.js'
import { joinValues } from './join-values.js'
import { isClosing, isOpening } from './brackets.js'
import { scanWords, VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'
import { DATE_WORDS, STATE_WORDS, TIME_SUFFIXES, TRUTH_WORDS } from './vocabulary.js'

/** Longer lines carry documents, whose ends say little about what happened. */
const MAX_MASKED_CHARACTERS = 2048

/** The words of a line in which everything that is a value, by its shape or its surroundings, is `VALUE`. */
export function maskLine(text: string): ScannedLine {
  const line = scanWords(beginning(text))
  markByNeighbours(line.words)
  return joinLists(joinValues(line))
}

/** Cut between words: half a word would be another one. */
function beginning(text: string): string {
  if (text.length <= MAX_MASKED_CHARACTERS) return text
  const end = text.lastIndexOf(' ', MAX_MASKED_CHARACTERS)
  return text.slice(0, end > 0 ? end : MAX_MASKED_CHARACTERS)
}

function markByNeighbours(words: string[]): void {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word.length > 1 && word !== VALUE && isValueHere(words, at, word)) words[at] = VALUE
  }
}

function isValueHere(words: readonly string[], at: number, word: string): boolean {
  const before = words[at - 1] ?? ''
  const after = words[at + 1] ?? ''
  if (TRUTH_WORDS.has(word)) return true
  if (STATE_WORDS.has(word)) return isFieldValue(before, after)
  if (TIME_SUFFIXES.has(word)) return before === VALUE
  if (DATE_WORDS.has(word)) return before === VALUE || isDatePart(after) || isDatePart(words[at + 2] ?? '')
  return false
}

/** Behind `=`, or alone or in a row within brackets. */
function isFieldValue(before: string, after: string): boolean {
  if (before === '=') return true
  if (before === VALUE) return isClosing(after)
  return isOpening(before) && (isClosing(after) || STATE_WORDS.has(after))
}

function isDatePart(word: string): boolean {
  return word === VALUE || DATE_WORDS.has(word)
}
