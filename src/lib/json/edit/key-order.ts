import { decodeString } from '../scan/decode-string.js'
import { BACKSLASH, QUOTE } from '../scan/json-bytes.js'
import { scanString } from '../scan/scan-string.js'

/**
 * Orders two object keys of a valid JSON text, given by their opening quotes, bytewise by their decoded UTF-8 as Go does: negative,
 * zero or positive.
 */
export function compareKeys(bytes: Uint8Array, left: number, right: number): number {
  for (let i = 1; ; i++) {
    const a = bytes[left + i] ?? 0
    const b = bytes[right + i] ?? 0
    // Beyond ASCII the bytes may stand for U+FFFD instead of themselves.
    if (a === BACKSLASH || b === BACKSLASH || a >= 0x80 || b >= 0x80)
      return compareDecoded(bytes, left, right)
    if (a === QUOTE) return b === QUOTE ? 0 : -1
    if (b === QUOTE) return 1
    if (a !== b) return a - b
  }
}

function compareDecoded(bytes: Uint8Array, left: number, right: number): number {
  return Buffer.compare(
    decodeString(bytes, left, scanString(bytes, left)),
    decodeString(bytes, right, scanString(bytes, right)),
  )
}
