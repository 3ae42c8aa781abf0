import { searchableText, searchTerms, splitWords } from '../../trail/searchable-text.js'

/** Of one word; what is longer is found by its beginning. The server takes at most 2,046 bytes. */
const MAX_WORD_LENGTH = 500
const NO_ASCII = /[^\0-\x7f]/u

/** The words of a body as the text of a `tsvector`, each once. They hold letters and digits only, so that quotes need no care. */
export function wordVector(body: Buffer): string {
  const words = new Set(splitWords(folded(searchableText(body))).map(shortened))
  return [...words].map(quoted).join(' ')
}

/** A `tsquery` for records that hold all words asked for; empty where none holds a letter or a digit. */
export function wordQuery(asked: readonly string[]): string {
  return asked
    .flatMap((word) => searchTerms(folded(word)))
    .map(({ word, isPrefix }) => `${quoted(shortened(word))}${isPrefix ? ':*' : ''}`)
    .join(' & ')
}

/** Without case and diacritics, as FTS5's unicode61 sees it. */
function folded(text: string): string {
  if (!NO_ASCII.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mn}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
}

function shortened(word: string): string {
  // Half a surrogate pair is no UTF-8.
  return word.length > MAX_WORD_LENGTH ? Buffer.from(word.slice(0, MAX_WORD_LENGTH)).toString() : word
}

function quoted(word: string): string {
  return `'${word}'`
}
