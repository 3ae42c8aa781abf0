import { isUtf8, transcode } from 'node:buffer'

import { BACKSLASH } from './json-bytes.js'

const LOWER_U = 0x75
const REPLACEMENT = 0xfffd
const INVALID = REPLACEMENT * 16 + 1

/**
 * The byte that each single-letter escape stands for. Reading a byte table is several times as fast
 * as an object lookup.
 */
const SINGLE_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => byte)
for (const [letter, meant] of [
  [0x62, 0x08],
  [0x66, 0x0c],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
] as const) {
  SINGLE_ESCAPES[letter] = meant
}

/** Minimum length for which the check for valid UTF-8 pays off. */
const LONG_BYTES = 4096

/**
 * Decodes the valid string literal from `start` (opening quote) to `end` (after the closing quote)
 * to UTF-8. Lone surrogates and each invalid UTF-8 byte become U+FFFD, as in Go. Shares memory with
 * `bytes` if possible.
 */
export function decodeString(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const last = end - 1
  let at = start + 1
  while (at < last && isPlain(bytes[at] ?? 0)) at++
  if (at === last) return bytes.subarray(start + 1, last)
  const plain = at - start - 1
  const rest = bytes.subarray(at, last)
  const isValid = rest.length > LONG_BYTES && isUtf8(rest)
  // Only an invalid byte makes the text longer than its literal: one byte becomes three.
  const out = Buffer.allocUnsafe(plain + (isValid ? rest.length : rest.length * 3))
  out.set(bytes.subarray(start + 1, at))
  let length = plain
  while (at < last) {
    const byte = bytes[at] ?? 0
    if (byte !== BACKSLASH && (byte < 0x80 || isValid)) {
      out[length++] = byte
      at += 1
      continue
    }
    const unit = decodeUnit(bytes, at, last)
    length = writeUtf8(out, length, unit >> 4)
    at += unit & 15
  }
  return out.subarray(0, length)
}

function isPlain(byte: number): boolean {
  return byte < 0x80 && byte !== BACKSLASH
}

/**
 * Decodes the character or escape at `at` of a valid string literal that ends before `end`. Returns
 * the code point times 16 plus its length in bytes, in one number to avoid an allocation.
 */
export function decodeUnit(bytes: Uint8Array, at: number, end: number): number {
  const byte = bytes[at] ?? 0
  if (byte === BACKSLASH) return decodeEscape(bytes, at, end)
  return byte < 0x80 ? byte * 16 + 1 : decodeUtf8(bytes, at, end)
}

function decodeEscape(bytes: Uint8Array, at: number, end: number): number {
  const letter = bytes[at + 1] ?? 0
  if (letter !== LOWER_U) return (SINGLE_ESCAPES[letter] ?? 0) * 16 + 2
  const first = hexDigits(bytes, at + 2)
  if (first < 0xd800 || first > 0xdfff) return first * 16 + 6
  const paired = first < 0xdc00 && at + 12 <= end && bytes[at + 6] === BACKSLASH && bytes[at + 7] === LOWER_U
  const second = paired ? hexDigits(bytes, at + 8) : 0
  if (second < 0xdc00 || second > 0xdfff) return REPLACEMENT * 16 + 6
  return (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)) * 16 + 12
}

function hexDigits(bytes: Uint8Array, start: number): number {
  let value = 0
  for (let at = start; at < start + 4; at++) {
    const byte = bytes[at] ?? 0
    value = value * 16 + (byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57)
  }
  return value
}

function decodeUtf8(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at] ?? 0
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
  if (lead < 0xc2 || lead > 0xf4 || at + size > end) return INVALID
  let point = lead & (0x7f >> size)
  for (let i = 1; i < size; i++) {
    const next = bytes[at + i] ?? 0
    if ((next & 0xc0) !== 0x80) return INVALID
    point = (point << 6) | (next & 0x3f)
  }
  return isEncodable(point, size) ? point * 16 + size : INVALID
}

/** Rejects overlong forms, surrogates and values beyond Unicode. */
function isEncodable(point: number, size: number): boolean {
  if (size === 3) return point >= 0x800 && (point < 0xd800 || point > 0xdfff)
  return size === 2 || (point >= 0x10000 && point <= 0x10ffff)
}

/** Writes a code point as UTF-8 at `at`. Returns the offset after it. */
export function writeUtf8(out: Uint8Array, at: number, point: number): number {
  if (point < 0x80) {
    out[at] = point
    return at + 1
  }
  const size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  for (let i = size - 1, rest = point; i > 0; i--, rest >>= 6) out[at + i] = 0x80 | (rest & 0x3f)
  out[at] = ((0xf00 >> size) & 0xff) | (point >> (6 * (size - 1)))
  return at + size
}

/**
 * Returns the bytes if they are valid UTF-8, otherwise converts them from ISO-8859-1, which some
 * clients send.
 */
export function toUtf8(bytes: Uint8Array): Uint8Array {
  return isUtf8(bytes) ? bytes : transcode(bytes, 'latin1', 'utf8')
}
