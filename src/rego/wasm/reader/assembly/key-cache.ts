import { BLOCK_HEADER, STRING, STRING_LENGTH, STRING_TEXT, WORDS_SIZE } from './value-layout'

/** Size of an entry: both ends of the key, its value, and the reading's number. */
const ENTRY_BYTES: usize = 32
const ENTRY_BITS: u32 = 8
export const KEY_CACHE_BYTES: usize = ENTRY_BYTES << ENTRY_BITS
/** Offset in the unused words before a key's value. */
const HASH_NOTE: usize = 8

const FNV_OFFSET: u32 = 0x811c9dc5
const FNV_PRIME: u32 = 0x01000193
/** Multiplier that spreads keys over the entries (2^64 divided by the golden ratio). */
const SPREAD: u64 = 0x9e3779b97f4a7c15

let entries: usize = 0
/** Number of the current reading; older entries point to freed values. */
let reading: u32 = 0

export function placeKeyCache(address: usize): void {
  entries = address
}

export function forgetKeys(): void {
  reading++
}

/** Returns the runtime's hash of a key from `keyValue`. */
export function keyHash(value: usize): u32 {
  return load<u32>(value - HASH_NOTE)
}

/**
 * Returns the string value of an object key. Keys repeat often, so one value is shared and hashed
 * once. A new one is written to `block`.
 */
export function keyValue(start: usize, length: usize, block: usize): usize {
  let head = load<u64>(start)
  let tail: u64 = 0
  if (length < 8) head &= ((1 as u64) << ((length as u64) << 3)) - 1
  else tail = load<u64>(start + length - 8)
  const spread = (head ^ rotl<u64>(tail, 23) ^ (length as u64)) * SPREAD
  const entry = entries + ((spread >> (64 - ENTRY_BITS)) as usize) * ENTRY_BYTES
  if (load<u64>(entry) == head && load<u64>(entry, 8) == tail && load<u32>(entry, 20) == reading) {
    const known: usize = load<u32>(entry, 16)
    if (isText(known, start, length)) return known
  }
  const value = block + BLOCK_HEADER
  writeString(block, start, length)
  store<u32>(value - HASH_NOTE, hashText(start, length))
  store<u64>(entry, head)
  store<u64>(entry, tail, 8)
  store<u32>(entry, value, 16)
  store<u32>(entry, reading, 20)
  return value
}

/** Writes a string value to `block`; its text stays in place. */
export function writeString(block: usize, start: usize, length: usize): void {
  store<u32>(block, WORDS_SIZE)
  store<u32>(block, STRING, BLOCK_HEADER)
  store<u32>(block, length, BLOCK_HEADER + STRING_LENGTH)
  store<u32>(block, start, BLOCK_HEADER + STRING_TEXT)
}

/** Compares a text with a string whose first and last bytes are known to be equal. */
function isText(value: usize, start: usize, length: usize): bool {
  if ((load<u32>(value, STRING_LENGTH) as usize) != length) return false
  if (length <= 16) return true
  const text: usize = load<u32>(value, STRING_TEXT)
  for (let at: usize = 8; at < length - 8; at += 8) {
    if (load<u64>(text + at) != load<u64>(start + at)) return false
  }
  return true
}

/** FNV-1a with 32 bits, in the order of the runtime: multiply, then mix the byte in. */
export function hashText(start: usize, length: usize): u32 {
  let hash = FNV_OFFSET
  const end = start + length
  for (let at = start; at < end; at++) hash = (hash * FNV_PRIME) ^ load<u8>(at)
  return hash
}
