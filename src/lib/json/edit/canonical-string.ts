import { byteTable, skipRun, BACKSLASH, QUOTE } from '../scan/json-bytes.js'
import { decodeUnit, writeUtf8 } from '../scan/decode-string.js'
import type { EditedCopy } from './edited-copy.js'

const LOWER_U = 0x75
const SLASH = 0x2f
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

/** The most bytes that one character is written as: a hexadecimal escape. */
const MAX_WRITTEN = 6

/** 1 for the bytes that stand for themselves inside a string of Go's encoding/json, whatever is around them. */
const PLAIN = byteTable((byte, char) => byte >= 0x20 && byte < 0x80 && !'"\\<>&'.includes(char))

/** The letter of the short escape by the byte that it stands for, else 0. */
const SHORT_ESCAPES = new Uint8Array(256)
for (const [letter, byte] of Object.entries({ b: 8, t: 9, n: 10, f: 12, r: 13, '"': 34, '\\': 92 })) {
  SHORT_ESCAPES[byte] = letter.charCodeAt(0)
}

const HEX = Buffer.from('0123456789abcdef')

/** Copies the string literal that opens at `open`, escaped as Go's encoding/json does: the offset after it in the source. */
export function copyCanonicalString(bytes: Uint8Array, open: number, end: number, copy: EditedCopy): number {
  let at = skipRun(bytes, open + 1, PLAIN)
  while (at < end && bytes[at] !== QUOTE) at = skipRun(bytes, copyCharacter(bytes, at, end, copy), PLAIN)
  return at + 1
}

function copyCharacter(bytes: Uint8Array, at: number, end: number, copy: EditedCopy): number {
  const letter = bytes[at] === BACKSLASH ? bytes[at + 1] : undefined
  if (letter !== undefined && letter !== LOWER_U && letter !== SLASH) return at + 2
  const unit = decodeUnit(bytes, at, end)
  const size = unit & 15
  const point = unit >> 4
  const kept =
    letter === undefined
      ? size > 1 && isPlain(point)
      : letter === LOWER_U && isCanonicalHexEscape(bytes, at, point)
  if (kept) return at + size
  const out = copy.beginEdit(at, at + size, MAX_WRITTEN)
  copy.endEdit(writeCharacter(out, copy.editStart, point))
  return at + size
}

/** Is `point` written as the six bytes that are at `at`? Only their last digit can be a letter then. */
function isCanonicalHexEscape(bytes: Uint8Array, at: number, point: number): boolean {
  const upperCase = ((bytes[at + 5] ?? 0) & 0x60) === 0x40
  return !upperCase && !isPlain(point) && (SHORT_ESCAPES[point] ?? 0) === 0
}

function isPlain(point: number): boolean {
  return point < 0x80 ? PLAIN[point] === 1 : point !== LINE_SEPARATOR && point !== PARAGRAPH_SEPARATOR
}

function writeCharacter(out: Uint8Array, at: number, point: number): number {
  const letter = SHORT_ESCAPES[point] ?? 0
  if (letter !== 0) {
    out[at] = BACKSLASH
    out[at + 1] = letter
    return at + 2
  }
  return isPlain(point) ? writeUtf8(out, at, point) : writeHexEscape(out, at, point)
}

function writeHexEscape(out: Uint8Array, at: number, point: number): number {
  out[at] = BACKSLASH
  out[at + 1] = LOWER_U
  for (let i = 0; i < 4; i++) out[at + 2 + i] = HEX[(point >> (12 - 4 * i)) & 15] ?? 0
  return at + 6
}
