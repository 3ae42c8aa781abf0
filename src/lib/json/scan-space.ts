/** The offset of the first byte at or after `from` that is not JSON white space, or the length of `bytes`. */
export function scanSpace(bytes: Uint8Array, from: number): number {
  let at = from
  while (isSpace(bytes[at] ?? 0)) at++
  return at
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
