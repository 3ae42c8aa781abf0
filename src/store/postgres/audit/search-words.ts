import { searchableText, searchTerms, splitWords } from '../../trail/searchable-text.js'

/**
 * Highest length of an indexed word. A longer word is found by its beginning. The server accepts at
 * most 2,046 bytes.
 */
const MAX_WORD_LENGTH = 500
const NO_ASCII = /[^\0-\x7f]/u

/**
 * The distinct words of a body as the text of a `tsvector`. Words contain only letters and digits,
 * so quotes need no escaping.
 */
export function wordVector(body: Buffer): string {
  const words = new Set(splitWords(folded(searchableText(body))).map(shortened))
  return [...words].map(quoted).join(' ')
}

/**
 * A `tsquery` for records that contain all words; empty if no word contains a letter or a digit.
 */
export function wordQuery(searched: readonly string[]): string {
  return searched
    .flatMap((word) => searchTerms(folded(word)))
    .map(({ word, isPrefix }) => `${quoted(shortened(word))}${isPrefix ? ':*' : ''}`)
    .join(' & ')
}

/** Removes case and diacritics like FTS5's unicode61 tokenizer. */
function folded(text: string): string {
  if (!NO_ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
}

function shortened(word: string): string {
  // Half a surrogate pair is invalid UTF-8.
  return word.length > MAX_WORD_LENGTH ? Buffer.from(word.slice(0, MAX_WORD_LENGTH)).toString() : word
}

function quoted(word: string): string {
  return `'${word}'`
}
