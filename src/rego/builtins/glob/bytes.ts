import type { WorkMeter } from '../../metering/work-meter.js'

/**
 * A text as its UTF-8 bytes, one per UTF-16 unit. OPA's globs count bytes in some positions and
 * characters in others, and split characters.
 */
export type Bytes = string

/**
 * A character of a text: its offset, its number of bytes, and the number of bytes that Go writes
 * for it (3 for a broken one).
 */
export interface Character {
  readonly at: number
  readonly width: number
  readonly written: number
  /** The bytes; empty for a broken character, which equals no other. */
  readonly bytes: Bytes
}

/** Cost in evaluation steps of searching a text for one separator. */
const SEARCH_STEPS = 1
const SEARCH_STEPS_PER_BYTE = 0.002

const NON_ASCII = /[^\0-\x7f]/
const REPLACEMENT_LENGTH = 3

export function bytesOf(text: string): Bytes {
  return NON_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}

export function* charactersOf(text: Bytes): Generator<Character> {
  let at = 0
  while (at < text.length) {
    const character = characterAt(text, at)
    yield character
    at += character.width
  }
}

export function countCharacters(text: Bytes): number {
  let count = 0
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++
  return count
}

/** Returns the number of bytes of the character at an offset: 1 for a broken one, 0 at the end. */
export function widthAt(text: Bytes, at: number): number {
  return at < text.length ? characterAt(text, at).width : 0
}

export function characterAt(text: Bytes, at: number): Character {
  const lead = text.charCodeAt(at)
  if (lead < 0x80) return { at, width: 1, written: 1, bytes: text.charAt(at) }
  const width = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  const bytes = text.slice(at, at + width)
  // Texts were valid before they were split, so a continuation byte belongs to the lead byte or is
  // missing.
  return width > 0 && bytes.length === width && isContinued(bytes)
    ? { at, width, written: width, bytes }
    : { at, width: 1, written: REPLACEMENT_LENGTH, bytes: '' }
}

/**
 * Returns the offset of the first separator in the list that occurs in the text, which is not
 * necessarily the first occurrence of any.
 */
export function indexOfAny(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): number {
  payForSearch(text, separators, meter)
  for (const separator of separators) {
    const at = text.indexOf(separator)
    if (at >= 0) return at
  }
  return -1
}

/** Returns the last offset of the first separator in the list that occurs in the text. */
export function lastIndexOfAny(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): number {
  payForSearch(text, separators, meter)
  for (const separator of separators) {
    const at = text.lastIndexOf(separator)
    if (at >= 0) return at
  }
  return -1
}

function payForSearch(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): void {
  meter.spend(separators.length * (SEARCH_STEPS + text.length * SEARCH_STEPS_PER_BYTE))
}

function isContinued(bytes: Bytes): boolean {
  for (let at = 1; at < bytes.length; at++) if ((bytes.charCodeAt(at) & 0xc0) !== 0x80) return false
  return true
}
