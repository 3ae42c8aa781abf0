import { joinLists } from './join-lists.js'
import { joinObjects } from './join-objects.js'
import { joinValues } from './join-values.js'
import { maskQuoted } from './mask-quoted.js'
import { isClosing, isOpening } from './characters.js'
import { scanWords, VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'
import { CONTEXT_WORDS } from './vocabulary.js'
import type { ContextKind } from './vocabulary.js'

/** Longer lines carry documents, whose ends say little about what happened. */
const MAX_MASKED_CHARACTERS = 2048

/** The words of a line in which everything that is a value, by its shape or its surroundings, is `VALUE`. */
export function maskLine(text: string): ScannedLine {
  const line = scanWords(beginning(text))
  markByNeighbours(line.words)
  return joinLists(joinObjects(joinValues(maskQuoted(line))))
}

/** Cut between words: half a word would be another one. */
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

/** Behind `=`, or alone or in a row within brackets. */
function isFieldValue(before: string, after: string): boolean {
  if (before === '=') return true
  if (before === VALUE) return isClosing(after)
  return isOpening(before) && (isClosing(after) || CONTEXT_WORDS.get(after) === 'state')
}

/** Behind a colon with no word that it could belong to: `required: yes`, but not `error: no entry`. */
function isAnswer(words: readonly string[], at: number): boolean {
  const after = words[at + 1]
  return words[at - 1] === ':' && (after === undefined || (after !== VALUE && !/[\p{L}"']/u.test(after)))
}

function isDatePart(word: string): boolean {
  return word === VALUE || CONTEXT_WORDS.get(word) === 'date'
}
