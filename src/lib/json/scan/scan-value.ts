import { AppError } from '../../../errors/app-error.js'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  byteTable,
} from './json-bytes.js'
import { scanLiteral, scanNumber } from './scan-scalar.js'
import { scanString } from './scan-string.js'
import { syntaxError } from './syntax-error.js'

/** Levels of containers, as in Go's encoding/json. */
export const MAX_DEPTH = 10_000

/**
 * The expected closing bracket at each depth. Scratch space, written before it is read within one
 * call.
 */
const closers = new Uint8Array(MAX_DEPTH + 1)

/**
 * Returns the offset after the JSON value at `from`, which may follow white space. `depth` is the
 * number of containers around it. Accepts the same as Go's encoding/json (including invalid UTF-8
 * in strings and 10,000 levels) and throws `invalid` with its messages.
 */
export function scanValue(bytes: Uint8Array, from: number, depth = 0): number {
  let at = scanSpace(bytes, from)
  if (at >= bytes.length && depth === 0) throw new AppError('invalid', 'EOF')
  let level = depth
  for (;;) {
    const first = bytes[at] ?? 0
    if (first === QUOTE) at = scanString(bytes, at)
    else if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      if (++level > MAX_DEPTH) throw syntaxError(bytes, at, 'exceeded max depth')
      const closer = first + 2
      closers[level] = closer
      at = scanSpace(bytes, at + 1)
      if (bytes[at] !== closer) {
        if (closer === CLOSE_OBJECT) at = scanKey(bytes, at)
        continue
      }
      level--
      at++
    } else at = isNumberStart(first) ? scanNumber(bytes, at) : scanLiteral(bytes, at)

    for (;;) {
      if (level === depth) return at
      at = scanSpace(bytes, at)
      const next = bytes[at]
      const closer = closers[level] ?? 0
      if (next === COMMA) {
        at = closer === CLOSE_OBJECT ? scanKey(bytes, scanSpace(bytes, at + 1)) : scanSpace(bytes, at + 1)
        break
      }
      if (next !== closer) throw syntaxError(bytes, at, afterMemberText(closer))
      level--
      at++
    }
  }
}

/** Skips the object key at `start` and its colon. Returns the offset of the value. */
export function scanKey(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) throw syntaxError(bytes, start, 'looking for beginning of object key string')
  const colon = scanSpace(bytes, scanString(bytes, start))
  if (bytes[colon] !== COLON) throw syntaxError(bytes, colon, 'after object key')
  return scanSpace(bytes, colon + 1)
}

function isNumberStart(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || byte === 0x2d
}

/** Go's message for a byte that is neither a comma nor the `closer` of the container. */
export function afterMemberText(closer: number): string {
  return closer === CLOSE_ARRAY ? 'after array element' : 'after object key:value pair'
}

/** 1 for the four white space bytes of JSON. */
const SPACE = byteTable((_, char) => ' \t\n\r'.includes(char))

/**
 * Returns the offset of the first byte at or after `from` that is not JSON white space, or the
 * length of `bytes`.
 */
export function scanSpace(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const byte = bytes[at] ?? 0
    if (byte > 0x20 || SPACE[byte] === 0) return at
    at++
  }
}
