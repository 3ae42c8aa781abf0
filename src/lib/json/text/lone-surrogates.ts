import { asBuffer } from '../../bytes.js'
import { BACKSLASH } from '../scan/json-bytes.js'

const ESCAPE_LENGTH = 6
const STARTS: readonly string[] = ['\\ud', '\\uD']
const REPLACEMENT = Buffer.from('\\ufffd')
const NO_DIGIT = 16
const SMALL_U = 0x75

/**
 * Replaces escapes of lone surrogates (`\ud800`) in JSON text by U+FFFD, as Go reads them. OPA's
 * WASM decodes two lone halves as a character and stops at one. Returns the same bytes if there are
 * none.
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

/** After an even number of backslashes the last one is escaped itself. */
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

/**
 * The UTF-16 unit of the escape at an offset, or -1 if there is none. Called for each escape of a
 * body, so it allocates nothing.
 */
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
