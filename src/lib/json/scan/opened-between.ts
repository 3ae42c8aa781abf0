import {
  byteTable,
  skipRun,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-bytes.js'
import { scanString } from './scan-string.js'

const STRUCTURE = new Set([QUOTE, OPEN_OBJECT, OPEN_ARRAY, CLOSE_OBJECT, CLOSE_ARRAY])
const PASSED_OVER = byteTable((byte) => !STRUCTURE.has(byte))

/**
 * Returns how many more objects and arrays are opened than closed from `start` to `end` of
 * well-formed JSON, neither of which is inside a string. Stops when the count is below `min`.
 * Throws as `scanString`.
 */
export function openedBetween(bytes: Uint8Array, start: number, end: number, min = -Infinity): number {
  let opened = 0
  let at = skipRun(bytes, start, PASSED_OVER)
  while (at < end) {
    const byte = bytes[at]
    if (byte === QUOTE) at = scanString(bytes, at) - 1
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) opened += 1
    else if (--opened < min) return opened
    at = skipRun(bytes, at + 1, PASSED_OVER)
  }
  return opened
}
