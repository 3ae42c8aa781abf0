import {
  ARRAY,
  ARRAY_CAPACITY,
  ARRAY_ELEMENTS,
  ARRAY_LENGTH,
  ELEMENT_KEY,
  ELEMENT_NEXT,
  ELEMENT_VALUE,
  OBJECT,
  OBJECT_BUCKET_COUNT,
  OBJECT_BUCKETS,
  OBJECT_LENGTH,
} from '../value-layout'
import { bucketsFor, compareTexts, comparisonsLeft } from '../build-container'
import { allocate, release, localAddress, SLOT_BYTES, slotOf, moduleAddress } from './regions'
import { remember, writeInteger } from './shared-values'

const HEAD_BYTES: usize = 16
const ELEMENT_BYTES: usize = 12
/** A pending member: key, hash of the key, value. */
export const MEMBER_BYTES: usize = 12
const ENTRY_BYTES: usize = 8
const MIX: u32 = 0x85ebca6b
const INTEGER_BYTES: usize = 16
const INDEX_RUNS: u32 = 32

/** Addresses of the index values that arrays share: run n holds 2^n of them. */
let indexRuns: usize = 0

/** Reserves the notes of this file; false if memory runs out. */
export function beginContainers(): bool {
  indexRuns = allocate(INDEX_RUNS << 2)
  if (indexRuns != 0) memory.fill(indexRuns, 0, INDEX_RUNS << 2)
  return indexRuns != 0
}

/** Returns the address of an array of pending elements, or 0 if memory runs out. */
export function arrayValue(elements: usize, count: u32): usize {
  const hash = hashOf(elements, count << 2) ^ ARRAY
  const slot = slotOf(hash)
  for (let entry = slot; entry < slot + SLOT_BYTES; entry += ENTRY_BYTES) {
    const known: usize = load<u32>(entry, 4)
    if (load<u32>(entry) == hash && known != 0 && isArray(localAddress(known), elements, count)) return known
  }
  // Index values are allocated before the array, which must be contiguous.
  for (let index: u32 = 0; index < count; index = index * 2 + 1) if (indexValue(index) == 0) return 0
  const local = allocate(HEAD_BYTES + (count << 3))
  if (local == 0) return 0
  store<u32>(local, ARRAY)
  store<u32>(local, count == 0 ? (0 as usize) : moduleAddress(local + HEAD_BYTES), ARRAY_ELEMENTS)
  store<u32>(local, count, ARRAY_LENGTH)
  store<u32>(local, count, ARRAY_CAPACITY)
  for (let index: u32 = 0; index < count; index++) {
    const at = local + HEAD_BYTES + (index << 3)
    store<u32>(at, indexValue(index))
    store<u32>(at, load<u32>(elements + (index << 2)), 4)
  }
  remember(hash, moduleAddress(local))
  return moduleAddress(local)
}

/**
 * Returns the address of the object whose members are pending at `members`, or 0 if memory runs
 * out. The last value of a repeated key is kept.
 */
export function objectValue(members: usize, count: u32): usize {
  const most = bucketsFor(count)
  const local = allocate(HEAD_BYTES + (most << 2) + (count as usize) * ELEMENT_BYTES)
  if (local == 0) return 0
  let buckets = most
  let length = fill(local, buckets, members, count)
  // Repeated keys were counted. The runtime would use fewer buckets, on which the order of elements
  // depends.
  while (bucketsFor(length) < buckets) {
    buckets = bucketsFor(length)
    length = fill(local, buckets, members, count)
  }
  if (comparisonsLeft < 0) return 0
  store<u32>(local, OBJECT)
  store<u32>(local, moduleAddress(local + HEAD_BYTES), OBJECT_BUCKETS)
  store<u32>(local, buckets, OBJECT_BUCKET_COUNT)
  store<u32>(local, length, OBJECT_LENGTH)
  release(local + HEAD_BYTES + (buckets << 2) + (length as usize) * ELEMENT_BYTES)
  return shared(local, buckets, length)
}

/** Returns an earlier object with the same members if there is one, else this one. */
function shared(local: usize, buckets: u32, length: u32): usize {
  let hash: u32 = OBJECT
  const elements = local + HEAD_BYTES + (buckets << 2)
  for (let at = elements; at < elements + (length as usize) * ELEMENT_BYTES; at += ELEMENT_BYTES)
    hash += mixed(load<u32>(at, ELEMENT_KEY) * 31 + load<u32>(at, ELEMENT_VALUE))
  const slot = slotOf(hash)
  for (let entry = slot; entry < slot + SLOT_BYTES; entry += ENTRY_BYTES) {
    const known: usize = load<u32>(entry, 4)
    if (load<u32>(entry) != hash || known == 0 || !isObject(localAddress(known), local, buckets, length))
      continue
    release(local)
    return known
  }
  remember(hash, moduleAddress(local))
  return moduleAddress(local)
}

/** Inserts members in key order and returns the number of distinct keys. */
function fill(local: usize, buckets: u32, members: usize, count: u32): u32 {
  const table = local + HEAD_BYTES
  memory.fill(table, 0, buckets << 2)
  let element = table + (buckets << 2)
  let length: u32 = 0
  // The last of equal keys is inserted first and kept.
  for (let member = members + (count as usize) * MEMBER_BYTES; member > members;) {
    member -= MEMBER_BYTES
    const slot = table + ((load<u32>(member, 4) & (buckets - 1)) << 2)
    store<u32>(element, load<u32>(member), ELEMENT_KEY)
    store<u32>(element, load<u32>(member, 8), ELEMENT_VALUE)
    if (!insertInOrder(slot, element)) continue
    element += ELEMENT_BYTES
    length++
  }
  return length
}

/** Returns false for a key that is already there. */
function insertInOrder(slot: usize, element: usize): bool {
  let link = slot
  while (true) {
    const current: usize = load<u32>(link)
    const order =
      current == 0 || comparisonsLeft < 0
        ? -1
        : compareTexts(
            localAddress(load<u32>(element)),
            localAddress(load<u32>(localAddress(current))),
            localAddress(0),
          )
    if (order == 0) return false
    if (order < 0) {
      store<u32>(element, current, ELEMENT_NEXT)
      store<u32>(link, moduleAddress(element))
      return true
    }
    link = localAddress(current) + ELEMENT_NEXT
  }
}

function isArray(value: usize, elements: usize, count: u32): bool {
  if (load<u32>(value) != ARRAY || load<u32>(value, ARRAY_LENGTH) != count) return false
  const own = localAddress(load<u32>(value, ARRAY_ELEMENTS))
  for (let index: u32 = 0; index < count; index++) {
    if (load<u32>(own + (index << 3), 4) != load<u32>(elements + (index << 2))) return false
  }
  return true
}

function isObject(value: usize, other: usize, buckets: u32, length: u32): bool {
  if (load<u32>(value) != OBJECT || load<u32>(value, OBJECT_BUCKET_COUNT) != buckets) return false
  if (load<u32>(value, OBJECT_LENGTH) != length) return false
  const table = localAddress(load<u32>(value, OBJECT_BUCKETS))
  for (let bucket: u32 = 0; bucket < buckets; bucket++) {
    let a: usize = load<u32>(table + (bucket << 2))
    let b: usize = load<u32>(other + HEAD_BYTES + (bucket << 2))
    while (a != 0 && b != 0) {
      // Compares key and value in one load.
      if (load<u64>(localAddress(a)) != load<u64>(localAddress(b))) return false
      a = load<u32>(localAddress(a), ELEMENT_NEXT)
      b = load<u32>(localAddress(b), ELEMENT_NEXT)
    }
    if (a != b) return false
  }
  return true
}

/** Returns the value of an index; creates its run on the first use. */
function indexValue(index: u32): usize {
  const run = 31 - clz(index + 1)
  const first: u32 = ((1 as u32) << run) - 1
  const slot = indexRuns + (run << 2)
  if (load<u32>(slot) == 0) {
    for (let value = first; value <= first * 2; value++) {
      const local = writeInteger(value)
      if (local == 0) return 0
      if (value == first) store<u32>(slot, moduleAddress(local))
    }
  }
  return (load<u32>(slot) as usize) + ((index - first) as usize) * INTEGER_BYTES
}

function hashOf(words: usize, bytes: usize): u32 {
  let hash: u32 = 0
  for (let at = words; at < words + bytes; at += 4) hash = mixed(hash ^ load<u32>(at)) + 0x9e3779b9
  return hash
}

function mixed(value: u32): u32 {
  const product = value * MIX
  return product ^ (product >> 15)
}
