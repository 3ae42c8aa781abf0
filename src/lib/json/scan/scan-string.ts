import { byteTable, skipRun, BACKSLASH, QUOTE } from './json-bytes.js'
import { syntaxError } from './syntax-error.js'

/**
 * 1 for bytes without a special meaning inside a string: all but control characters, `"` and `\`.
 */
const PLAIN = byteTable((byte) => byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH)

/** 1 for bytes that may follow a backslash, 2 for `u`, which needs four hexadecimal digits. */
const ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x75) return 2
  return '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0
})

/**
 * Returns the offset after the string literal whose opening quote is at `open`. Throws
 * JsonSyntaxError if it is malformed or unclosed.
 */
export function scanString(bytes: Uint8Array, open: number): number {
  let at = skipRun(bytes, open + 1, PLAIN)
  while (bytes[at] !== QUOTE) {
    if (bytes[at] !== BACKSLASH) throw syntaxError(bytes, at, 'in string literal')
    at = skipRun(bytes, scanEscape(bytes, at), PLAIN)
  }
  return at + 1
}

function scanEscape(bytes: Uint8Array, backslash: number): number {
  const kind = ESCAPES[bytes[backslash + 1] ?? 0]
  if (kind === 1) return backslash + 2
  if (kind !== 2) throw syntaxError(bytes, backslash + 1, 'in string escape code')
  for (let at = backslash + 2; at < backslash + 6; at++) {
    if (!isHexDigit(bytes[at] ?? 0)) throw syntaxError(bytes, at, 'in \\u hexadecimal character escape')
  }
  return backslash + 6
}

function isHexDigit(byte: number): boolean {
  const lower = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (lower >= 0x61 && lower <= 0x66)
}
