import { ensureMemory, PASS_BYTES } from './heap'
import { keyHash } from './key-cache'
import * as layout from './value-layout'

const MIN_BUCKETS: u32 = 8
const LOAD_FACTOR: f64 = 0.7

/** Comparisons left. Limits the work for keys that were crafted to collide. */
export let comparisonsLeft: i64 = 0

export function allowComparisons(count: i64): void {
  comparisonsLeft = count
}

export function writeInteger(block: usize, value: i64): void {
  store<u32>(block, layout.WORDS_SIZE)
  store<u32>(block, layout.INTEGER, layout.BLOCK_HEADER)
  store<i64>(block, value, layout.BLOCK_HEADER + layout.INTEGER_VALUE)
}

/**
 * Writes the array of `count` elements to the heap at `block`. Returns the new end of the heap, or
 * 0 if memory runs out. `last` is the block of the last index; the unused words of each index link
 * to the previous one and to its element.
 */
export function buildArray(last: usize, count: u32, block: usize): usize {
  const value = block + layout.BLOCK_HEADER
  store<u32>(block, layout.WORDS_SIZE)
  store<u32>(value, layout.ARRAY)
  store<u32>(value, count, layout.ARRAY_LENGTH)
  store<u32>(value, count, layout.ARRAY_CAPACITY)
  store<u32>(value, 0, layout.ARRAY_ELEMENTS)
  const end = block + layout.WORDS_BLOCK
  if (count == 0) return end
  const size: usize = layout.blockSize(count << 3)
  if (!ensureMemory(end, size + PASS_BYTES)) return 0
  const elements = end + layout.BLOCK_HEADER
  store<u32>(end, size)
  store<u32>(value, elements, layout.ARRAY_ELEMENTS)
  let index = last
  for (let at = elements + ((count as usize) << 3); at > elements;) {
    at -= 8
    store<u32>(at, index + layout.BLOCK_HEADER)
    store<u32>(at, load<u32>(index, 8), 4)
    index = load<u32>(index, 4) as usize
  }
  return elements + size
}

/**
 * Writes the object whose linked elements end with `last` to the heap at `block`. Returns the new
 * end of the heap, or 0 if memory runs out or too many keys collide. The last value of a repeated
 * key is kept.
 */
export function buildObject(last: usize, count: u32, block: usize): usize {
  const value = block + layout.BLOCK_HEADER
  const tableBlock = block + layout.WORDS_BLOCK
  const table = tableBlock + layout.BLOCK_HEADER
  let buckets = bucketsFor(count)
  const size: usize = layout.blockSize(buckets << 2)
  if (!ensureMemory(tableBlock, size + PASS_BYTES)) return 0
  store<u32>(block, layout.WORDS_SIZE)
  store<u32>(value, layout.OBJECT)
  store<u32>(value, table, layout.OBJECT_BUCKETS)
  store<u32>(tableBlock, size)
  let length = fillTable(table, buckets, last)
  // Repeated keys were counted. The runtime would use fewer buckets, on which the order of elements
  // depends.
  while (bucketsFor(length) < buckets) {
    const chain = unlinkTable(table, buckets)
    buckets = bucketsFor(length)
    length = fillTable(table, buckets, chain)
  }
  store<u32>(value, buckets, layout.OBJECT_BUCKET_COUNT)
  store<u32>(value, length, layout.OBJECT_LENGTH)
  return comparisonsLeft < 0 ? 0 : table + size
}

/** Returns the number of buckets that the runtime uses for an object of this many members. */
export function bucketsFor(length: u32): u32 {
  let buckets = MIN_BUCKETS
  while (length > buckets * LOAD_FACTOR) buckets <<= 1
  return buckets
}

/** Inserts elements in key order and returns the number of distinct keys. */
function fillTable(table: usize, buckets: u32, last: usize): u32 {
  for (let at: usize = 0; at < buckets << 2; at += 16) v128.store(table + at, i64x2.splat(0))
  let length: u32 = 0
  for (let element = last; element != 0;) {
    const next = load<u32>(element, layout.ELEMENT_NEXT)
    const slot = table + ((keyHash(load<u32>(element)) & (buckets - 1)) << 2)
    if (load<u32>(slot) == 0) {
      store<u32>(slot, element)
      store<u32>(element, 0, layout.ELEMENT_NEXT)
      length++
    } else if (insertInOrder(slot, element)) length++
    element = next
  }
  return length
}

/** Returns false for a key that is already there: elements come last first. */
function insertInOrder(slot: usize, element: usize): bool {
  const key: usize = load<u32>(element)
  let link = slot
  while (true) {
    const current: usize = load<u32>(link)
    const order = current == 0 || comparisonsLeft < 0 ? -1 : compareTexts(key, load<u32>(current), 0)
    if (order == 0) return false
    if (order < 0) {
      store<u32>(link, element)
      store<u32>(element, current, layout.ELEMENT_NEXT)
      return true
    }
    link = current + layout.ELEMENT_NEXT
  }
}

/** Links the elements of all buckets into one chain. */
function unlinkTable(table: usize, buckets: u32): usize {
  let chain: usize = 0
  for (let at = table; at < table + ((buckets as usize) << 2); at += 4) {
    for (let element = load<u32>(at); element != 0;) {
      const next = load<u32>(element, layout.ELEMENT_NEXT)
      store<u32>(element, chain, layout.ELEMENT_NEXT)
      chain = element
      element = next
    }
  }
  return chain
}

/** Compares strings by bytes. `shift` is added to the addresses of their texts. */
export function compareTexts(a: usize, b: usize, shift: usize): i32 {
  comparisonsLeft--
  if (a == b) return 0
  const lengthA = load<u32>(a, layout.STRING_LENGTH)
  const lengthB = load<u32>(b, layout.STRING_LENGTH)
  const common = min(lengthA, lengthB) as usize
  const textA = (load<u32>(a, layout.STRING_TEXT) as usize) + shift
  const textB = (load<u32>(b, layout.STRING_TEXT) as usize) + shift
  let at: usize = 0
  while (at + 8 <= common && load<u64>(textA + at) == load<u64>(textB + at)) at += 8
  comparisonsLeft -= at >> 3
  for (; at < common; at++) {
    const difference = (load<u8>(textA + at) as i32) - (load<u8>(textB + at) as i32)
    if (difference != 0) return difference
  }
  return lengthA == lengthB ? 0 : lengthA < lengthB ? -1 : 1
}
