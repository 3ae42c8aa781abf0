/** Size of a body up to which its text is searchable. */
const MAX_INDEXED_BYTES = 256 * 1024
/**
 * Escapes of white space in JSON, and their ends in nested JSON: their letters do not belong to the
 * next word. The pattern excludes preceding backslashes, since it would scan a long run of them
 * again from each one.
 */
const ESCAPES = /\\[nrt]/g
const NO_WORD = /[^\p{L}\p{N}\p{Co}]+/u

/** Returns the searchable text of a body. */
export function searchableText(body: Buffer): string {
  return body.toString('utf8', 0, MAX_INDEXED_BYTES).replace(ESCAPES, ' ')
}

/** A word that a record must contain, or with `isPrefix` the beginning of one. */
export interface SearchTerm {
  readonly word: string
  readonly isPrefix: boolean
}

/**
 * Splits a search word at characters that are neither letters nor digits. A final `*` matches any
 * ending.
 */
export function searchTerms(searched: string): SearchTerm[] {
  const words = splitWords(searched.normalize('NFC'))
  const isPrefix = searched.endsWith('*')
  return words.map((word, index) => ({ word, isPrefix: isPrefix && index === words.length - 1 }))
}

/** Splits a text into words. */
export function splitWords(text: string): string[] {
  return text.split(NO_WORD).filter((word) => word !== '')
}
