import type { WorkMeter } from '../../metering/work-meter.js'

/**
 * Texts as their bytes of UTF-8, one UTF-16 unit each: OPA's globs count in bytes at some places and in characters at others, and
 * cut characters in two.
 */
export type Bytes = string

/** A character of a text: where it begins, how many bytes it has, and how many Go writes it with (3 for a broken one). */
export interface Character {
  readonly at: number
  readonly width: number
  readonly written: number
  /** Its bytes; empty for a broken one, which equals no other. */
  readonly bytes: Bytes
}

/** Steps of looking for one separator in a text. */
const LOOK_STEPS = 1
const LOOK_STEPS_PER_BYTE = 0.002

const NON_ASCII = /[^\0-\x7f]/
const REPLACEMENT_LENGTH = 3

/** The bytes of a text. */
export function bytesOf(text: string): Bytes {
  return NON_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text
}

/** The characters of a text in turn. */
export function* charactersOf(text: Bytes): Generator<Character> {
  let at = 0
  while (at < text.length) {
    const character = characterAt(text, at)
    yield character
    at += character.width
  }
}

/** How many characters a text has. */
export function countCharacters(text: Bytes): number {
  let count = 0
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++
  return count
}

/** How many bytes the character at a place has: 1 for a broken one, 0 behind the end. */
export function widthAt(text: Bytes, at: number): number {
  return at < text.length ? characterAt(text, at).width : 0
}

/** The character at a place before the end. */
export function characterAt(text: Bytes, at: number): Character {
  const lead = text.charCodeAt(at)
  if (lead < 0x80) return { at, width: 1, written: 1, bytes: text.charAt(at) }
  const width = lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
  const bytes = text.slice(at, at + width)
  // Texts were whole before they were cut: what follows a lead belongs to it, or is missing.
  return width > 0 && bytes.length === width && isContinued(bytes)
    ? { at, width, written: width, bytes }
    : { at, width: 1, written: REPLACEMENT_LENGTH, bytes: '' }
}

/** The place of the first listed separator that a text has, not of the first place of any. */
export function indexOfAny(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): number {
  payForLooking(text, separators, meter)
  for (const separator of separators) {
    const at = text.indexOf(separator)
    if (at >= 0) return at
  }
  return -1
}

/** The same from the end. */
export function lastIndexOfAny(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): number {
  payForLooking(text, separators, meter)
  for (const separator of separators) {
    const at = text.lastIndexOf(separator)
    if (at >= 0) return at
  }
  return -1
}

function payForLooking(text: Bytes, separators: readonly Bytes[], meter: WorkMeter): void {
  meter.spend(separators.length * (LOOK_STEPS + text.length * LOOK_STEPS_PER_BYTE))
}

function isContinued(bytes: Bytes): boolean {
  for (let at = 1; at < bytes.length; at++) if ((bytes.charCodeAt(at) & 0xc0) !== 0x80) return false
  return true
}
