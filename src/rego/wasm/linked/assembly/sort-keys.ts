import { opa_malloc, opa_value_compare } from './policy'
import { noteSorted } from './sorted-keys'
import * as layout from './value-layout'

/** A copy of a key, after the number of following keys, sized for any value. */
export const SLOT_HEAD: usize = 8
export const SLOT_BYTES: usize = SLOT_HEAD + layout.VALUE_BYTES
/** Length of the runs that are sorted by insertion. */
const RUN: u32 = 8

/** Sorts the keys of an object or a set of at least two and returns the first. */
export function buildSorted(notes: usize, node: usize, length: u32): usize {
  const block = opa_malloc((length as usize) * (SLOT_BYTES + 8))
  const keys = block + (length as usize) * SLOT_BYTES
  collect(node, keys)
  const sorted = sort(keys, keys + ((length as usize) << 2), length)
  const first = block + SLOT_HEAD
  copyKeys(sorted, first, length)
  noteSorted(notes, node, length, first)
  return first
}

function collect(node: usize, to: usize): void {
  const next = load<u8>(node) == layout.OBJECT ? layout.NEXT_IN_OBJECT : layout.NEXT_IN_SET
  const table = load<u32>(node, layout.BUCKETS) as usize
  const end = table + ((load<u32>(node, layout.BUCKET_COUNT) as usize) << 2)
  for (let bucket = table; bucket < end; bucket += 4) {
    for (let member: usize = load<u32>(bucket); member != 0; member = load<u32>(member + next)) {
      store<u32>(to, load<u32>(member))
      to += 4
    }
  }
}

/** Merges runs between two arrays of addresses and returns the array with the sorted result. */
function sort(keys: usize, spare: usize, length: u32): usize {
  for (let start: u32 = 0; start < length; start += RUN) insertAll(keys, start, min(start + RUN, length))
  let from = keys
  let to = spare
  for (let width = RUN; width < length; width <<= 1) {
    for (let start: u32 = 0; start < length; start += width << 1) {
      const middle = min(start + width, length)
      merge(from, to, start, middle, min(middle + width, length))
    }
    const last = from
    from = to
    to = last
  }
  return from
}

function insertAll(keys: usize, start: u32, end: u32): void {
  for (let i = start + 1; i < end; i++) {
    const key: usize = load<u32>(keys + ((i as usize) << 2))
    let at = i
    while (at > start && compare(load<u32>(keys + (((at - 1) as usize) << 2)), key) > 0) {
      store<u32>(keys + ((at as usize) << 2), load<u32>(keys + (((at - 1) as usize) << 2)))
      at--
    }
    store<u32>(keys + ((at as usize) << 2), key)
  }
}

function merge(from: usize, to: usize, start: u32, middle: u32, end: u32): void {
  let left = start
  let right = middle
  for (let at = start; at < end; at++) {
    const isLeft =
      right >= end ||
      (left < middle &&
        compare(load<u32>(from + ((left as usize) << 2)), load<u32>(from + ((right as usize) << 2))) <= 0)
    const taken = isLeft ? left++ : right++
    store<u32>(to + ((at as usize) << 2), load<u32>(from + ((taken as usize) << 2)))
  }
}

function copyKeys(sorted: usize, first: usize, length: u32): void {
  let slot = first
  for (let i: u32 = 0; i < length; i++) {
    store<u32>(slot - SLOT_HEAD, length - 1 - i)
    const key: usize = load<u32>(sorted + ((i as usize) << 2))
    // Bytes after a smaller value are copied too; the block is after every key of the heap, so the
    // memory exists.
    store<u64>(slot, load<u64>(key))
    store<u64>(slot, load<u64>(key, 8), 8)
    store<u64>(slot, load<u64>(key, 16), 16)
    slot += SLOT_BYTES
  }
}

/**
 * Returns a negative number, 0 or a positive number. Compares the runtime's strings and integers
 * here, all other values by the runtime.
 */
function compare(a: usize, b: usize): i32 {
  const typeA = load<u8>(a)
  const typeB = load<u8>(b)
  if (isText(typeA) && isText(typeB)) return compareTexts(a, b)
  if (load<u16>(a) == layout.INTEGER && load<u16>(b) == layout.INTEGER) {
    const left = load<i64>(a, layout.INTEGER_VALUE)
    const right = load<i64>(b, layout.INTEGER_VALUE)
    return left < right ? -1 : i32(left > right)
  }
  return opa_value_compare(a, b)
}

function isText(type: u32): bool {
  return type == layout.STRING || type == layout.INTERNED_STRING
}

function compareTexts(a: usize, b: usize): i32 {
  const lengthA = load<u32>(a, layout.STRING_LENGTH)
  const lengthB = load<u32>(b, layout.STRING_LENGTH)
  const common = min(lengthA, lengthB) as usize
  const textA: usize = load<u32>(a, layout.STRING_TEXT)
  const textB: usize = load<u32>(b, layout.STRING_TEXT)
  let at: usize = 0
  while (at + 8 <= common) {
    const left = load<u64>(textA + at)
    const right = load<u64>(textB + at)
    if (left != right) return bswap(left) < bswap(right) ? -1 : 1
    at += 8
  }
  for (; at < common; at++) {
    const difference = (load<u8>(textA + at) as i32) - (load<u8>(textB + at) as i32)
    if (difference != 0) return difference
  }
  return lengthA == lengthB ? 0 : lengthA < lengthB ? -1 : 1
}
