export const QUOTE: u32 = 0x22
export const BACKSLASH: u32 = 0x5c
export const COMMA: u32 = 0x2c
export const COLON: u32 = 0x3a
export const OPEN_ARRAY: u32 = 0x5b
export const CLOSE_ARRAY: u32 = 0x5d
export const OPEN_OBJECT: u32 = 0x7b
export const CLOSE_OBJECT: u32 = 0x7d

/** Skips JSON white space from `from`. The zeros after the body end the search. */
export function skipSpace(from: usize): usize {
  let at = from
  while (true) {
    const byte = load<u8>(at)
    if (byte > 0x20 || !isSpace(byte)) return at
    at++
  }
}

function isSpace(byte: u32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}
