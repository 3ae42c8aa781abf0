import { byteTable } from './json-bytes.js'

/** 1 for the four bytes of JSON white space. */
const SPACE = byteTable((_, char) => ' \t\n\r'.includes(char))

/** The offset of the first byte at or after `from` that is not JSON white space, or the length of `bytes`. */
export function scanSpace(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const byte = bytes[at] ?? 0
    if (byte > 0x20 || SPACE[byte] === 0) return at
    at++
  }
}
