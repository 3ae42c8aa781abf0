import { BACKSLASH, QUOTE } from './bytes'

/** End of the text of the last string read. Escapes make it shorter than the literal. */
export let textEnd: usize = 0

const REPLACEMENT: u32 = 0xfffd

/**
 * Reads the string literal whose text starts at `start`. Returns the address after its closing
 * quote, or 0 if it is malformed. Escapes are decoded in place, so every text stays in the body.
 */
export function readString(start: usize): usize {
  const at = skipPlain(start)
  if (load<u8>(at) == QUOTE) {
    textEnd = at
    return at + 1
  }
  return decodeRest(at)
}

/** Returns the address of the first quote, backslash or control character at or after `from`. */
function skipPlain(from: usize): usize {
  let at = from
  while (true) {
    const chunk = v128.load(at)
    const quotes = i8x16.eq(chunk, i8x16.splat(0x22))
    const backslashes = i8x16.eq(chunk, i8x16.splat(0x5c))
    const controls = i8x16.le_u(chunk, i8x16.splat(0x1f))
    const found = i8x16.bitmask(v128.or(v128.or(quotes, backslashes), controls))
    if (found != 0) return at + (ctz(found) as usize)
    at += 16
  }
}

function decodeRest(from: usize): usize {
  let at = from
  let out = from
  while (true) {
    const byte = load<u8>(at)
    if (byte == QUOTE) break
    if (byte != BACKSLASH) return 0
    const letter = load<u8>(at + 1)
    if (letter == 0x75) {
      const unit = hexUnit(at + 2)
      if (unit < 0) return 0
      at += 6
      let point = unit
      if (unit >= 0xd800 && unit <= 0xdfff) {
        const low = unit < 0xdc00 && load<u16>(at) == 0x755c ? hexUnit(at + 2) : 0
        const isPair = low >= 0xdc00 && low <= 0xdfff
        // A lone surrogate is no character; Go reads U+FFFD.
        point = isPair ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : REPLACEMENT
        if (isPair) at += 6
      }
      out = writeUtf8(out, point)
    } else {
      const decoded = singleEscape(letter)
      if (decoded == 0) return 0
      store<u8>(out++, decoded)
      at += 2
    }
    const next = skipPlain(at)
    memory.copy(out, at, next - at)
    out += next - at
    at = next
  }
  textEnd = out
  return at + 1
}

/** Returns the character of an escape such as `n`, or 0. */
function singleEscape(letter: u32): u32 {
  switch (letter) {
    case 0x22:
    case 0x5c:
    case 0x2f:
      return letter
    case 0x62:
      return 0x08
    case 0x66:
      return 0x0c
    case 0x6e:
      return 0x0a
    case 0x72:
      return 0x0d
    case 0x74:
      return 0x09
    default:
      return 0
  }
}

/** Returns the value of four hexadecimal digits, or -1. */
function hexUnit(start: usize): i32 {
  let value: i32 = 0
  for (let at = start; at < start + 4; at++) {
    const byte = load<u8>(at)
    const lower = byte | 0x20
    if (byte - 0x30 <= 9) value = value * 16 + (byte - 0x30)
    else if (lower - 0x61 <= 5) value = value * 16 + (lower - 0x57)
    else return -1
  }
  return value
}

function writeUtf8(out: usize, point: u32): usize {
  if (point < 0x80) {
    store<u8>(out, point)
    return out + 1
  }
  if (point < 0x800) {
    store<u8>(out, 0xc0 | (point >> 6))
    store<u8>(out, 0x80 | (point & 0x3f), 1)
    return out + 2
  }
  if (point < 0x10000) {
    store<u8>(out, 0xe0 | (point >> 12))
    store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 1)
    store<u8>(out, 0x80 | (point & 0x3f), 2)
    return out + 3
  }
  store<u8>(out, 0xf0 | (point >> 18))
  store<u8>(out, 0x80 | ((point >> 12) & 0x3f), 1)
  store<u8>(out, 0x80 | ((point >> 6) & 0x3f), 2)
  store<u8>(out, 0x80 | (point & 0x3f), 3)
  return out + 4
}
