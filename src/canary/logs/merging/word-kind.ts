import { VALUE } from '../masking/scan-words.js'

/**
 * `state`: in capitals, as states, methods and levels are, or a type of failure. `dotted`: names in
 * several parts. `capitalised`, `plain`: by their first letter.
 */
export type WordKind = 'state' | 'dotted' | 'capitalised' | 'plain'

/** The kind that most of some words have. */
export function commonKind(words: readonly string[]): WordKind {
  const isMost = (test: (word: string) => boolean): boolean => words.filter(test).length * 2 > words.length
  if (isMost(isState)) return 'state'
  if (isMost((word) => /\w\.\w/.test(word))) return 'dotted'
  return isMost((word) => /^\p{Lu}/u.test(word)) ? 'capitalised' : 'plain'
}

/** Whether a word has a letter and is no value; punctuation is not a word here. */
export function isRealWord(word: string): boolean {
  return word !== VALUE && /\p{L}/u.test(word)
}

/** The number of words that identify a message. Single letters and punctuation do not count. */
export function countMeaningfulWords(words: readonly string[]): number {
  return words.filter((word) => word.length > 1 && isRealWord(word)).length
}

const FAILING = /^(?:abort|because|cannot|den[iy]|due$|err|fail|invalid|lost$|refus|reject|timed|unable)/i

/** Whether a word at this place may be the cause of a failure. Two causes are two messages. */
export function mayBeCause(words: readonly string[], place: number): boolean {
  return words.slice(0, place).some((word) => FAILING.test(word))
}

/**
 * A name in parts that may vary: a class, a property or an identifier (`dark_mode`, `MailJob`), but
 * no outcome.
 */
export function isCompoundName(word: string): boolean {
  if (isState(word)) return false
  return isDottedName(word) || (/\p{L}_\p{L}|\p{Ll}\p{Lu}/u.test(word) && !/(?:ed|ing)$/.test(word))
}

/** A class or a property with its package or owner. */
export function isDottedName(word: string): boolean {
  return /^[A-Za-z_$][\w$]*(?:\.[\w$]+)+$/.test(word) && !isState(word)
}

function isState(word: string): boolean {
  return !/\p{Ll}/u.test(word) || /\.[A-Z_]+$|(?:Exception|Error|Throwable)$/.test(word)
}
