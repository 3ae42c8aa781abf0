import { decodeString } from '../../lib/json/scan/decode-string.js'
import { BACKSLASH, COLON, QUOTE } from '../../lib/json/scan/json-bytes.js'
import { openedBetween } from '../../lib/json/scan/opened-between.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'

const KEY = Buffer.from('"application"')
/** Searched bytes. Callers write the name near the start. */
const SEARCHED_BYTES = 8192
/** `application` at the top, or in `new`, `pipeline` or `app`. */
const MAX_DEPTH = 2

/**
 * Returns the application of an input (valid JSON), to find its decision again: the first
 * `application` string at the first or second level within 8 KiB. Undefined if there is none.
 */
export function findApplication(input: Uint8Array): string | undefined {
  const bytes = Buffer.from(input.buffer, input.byteOffset, Math.min(input.length, SEARCHED_BYTES))
  for (let at = bytes.indexOf(KEY); at !== -1; at = bytes.indexOf(KEY, at + KEY.length)) {
    const colon = scanSpace(bytes, at + KEY.length)
    const value = scanSpace(bytes, colon + 1)
    if (bytes[colon] !== COLON || bytes[value] !== QUOTE) continue
    if (openedBetween(bytes, 0, at) > MAX_DEPTH) continue
    const end = closingQuote(bytes, value)
    return end === undefined ? undefined : Buffer.from(decodeString(bytes, value, end)).toString()
  }
  return undefined
}

/** Returns the offset after a string literal; undefined if the searched bytes end in it. */
function closingQuote(bytes: Buffer, open: number): number | undefined {
  for (let at = open + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1
    else if (bytes[at] === QUOTE) return at + 1
  }
  return undefined
}
