/** Of one body; free text beyond it is not found. */
const MAX_INDEXED_BYTES = 256 * 1024
/**
 * Escapes of white space in JSON, and the ends of those in JSON inside JSON: their letters are not part of the word behind them. The
 * backslashes before one are in no word; a pattern that took them along would look at a long row of them from each one anew.
 */
const ESCAPES = /\\[nrt]/g
const NO_WORD = /[^\p{L}\p{N}\p{Co}]+/u

/** What free text finds of a body. */
export function searchableText(body: Buffer): string {
  return body.toString('utf8', 0, MAX_INDEXED_BYTES).replace(ESCAPES, ' ')
}

/** A word that a record must hold; with `isPrefix`, one that begins so. */
export interface SearchTerm {
  readonly word: string
  readonly isPrefix: boolean
}

/** What to look for where a person asks for a word: it is cut wherever neither letters nor digits stand; `*` at its end stands for any. */
export function searchTerms(asked: string): SearchTerm[] {
  const words = splitWords(asked.normalize('NFC'))
  const isPrefix = asked.endsWith('*')
  return words.map((word, index) => ({ word, isPrefix: isPrefix && index === words.length - 1 }))
}

/** The words of a text, as they are there. */
export function splitWords(text: string): string[] {
  return text.split(NO_WORD).filter((word) => word !== '')
}
