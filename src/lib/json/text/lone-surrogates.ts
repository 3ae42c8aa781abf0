import { asBuffer } from '../../bytes.js'
import { BACKSLASH } from '../scan/json-bytes.js'

const ESCAPE_LENGTH = 6
const STARTS: readonly string[] = ['\\ud', '\\uD']
const REPLACEMENT = Buffer.from('\\ufffd')
const NO_DIGIT = 16
const SMALL_U = 0x75

/**
 * JSON text whose escapes of half a surrogate pair (`\ud800`), which stand for no character, are U+FFFD, as Go reads
 * them; OPA's WASM takes two wrong halves for a character and breaks off at one. The same bytes where there is none.
 */
export function replaceLoneSurrogates(json: Uint8Array): Uint8Array {
  const source = asBuffer(json)
  let copy: Buffer | undefined
  for (const start of STARTS) {
    for (let at = source.indexOf(start); at !== -1; at = source.indexOf(start, at + 1)) {
      if (!isHalf(source, at) || isWithinPair(source, at)) continue
      copy ??= Buffer.from(source)
      copy.set(REPLACEMENT, at)
    }
  }
  return copy ?? json
}

function isHalf(source: Buffer, at: number): boolean {
  return unitAt(source, at) >= 0xd800 && isEscape(source, at)
}

/** Of an even number of backslashes the last is itself escaped. */
function isEscape(source: Buffer, at: number): boolean {
  let before = at
  while (before > 0 && source[before - 1] === BACKSLASH) before--
  return (at - before) % 2 === 0
}

function isWithinPair(source: Buffer, at: number): boolean {
  if (isHigh(unitAt(source, at))) return isLow(unitAt(source, at + ESCAPE_LENGTH))
  const before = at - ESCAPE_LENGTH
  return before >= 0 && isHigh(unitAt(source, before)) && isEscape(source, before)
}

/** The UTF-16 unit of the escape at a place, or -1 where there is none. Called for each escape of a body: no text is made. */
function unitAt(source: Buffer, at: number): number {
  if (source[at] !== BACKSLASH || source[at + 1] !== SMALL_U) return -1
  let unit = 0
  for (let digit = at + 2; digit < at + ESCAPE_LENGTH; digit++) {
    const value = digitOf(source[digit])
    if (value === NO_DIGIT) return -1
    unit = unit * 16 + value
  }
  return unit
}

function digitOf(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : NO_DIGIT
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
