import { opa_value_iter } from './policy'
import { findKept, findSorted, noteKept, setDataEnd, takeWanted, wantKept } from './sorted-keys'
import { buildSorted, SLOT_BYTES, SLOT_HEAD } from './sort-keys'
import * as layout from './value-layout'

/** Where the notes on sorted collections are; 0 where values may lie otherwise than we know, and the runtime's order has to do. */
let notes: usize = 0
/** Which of the module's calls of built-ins was made last, counted from 1; set by its policies (calls/call-sites.ts). */
export let callSite: u32 = 0

/** Tells where the notes may be, and where the base documents end. */
export function setNotes(address: usize, dataEnd: usize): void {
  notes = address
  callSite = 0
  setDataEnd(dataEnd)
}

/** Sorts a base document that was asked for where the heap begins, once and for all; false where there is none. */
export function keepNext(): bool {
  const node = takeWanted(notes)
  if (node == 0) return false
  if (findKept(notes, node) == 0) {
    noteKept(notes, node, buildSorted(notes, node, load<u32>(node, layout.COLLECTION_LENGTH)))
  }
  return true
}

/**
 * The key after another one, or the first where that is 0, as `opa_value_iter` gives it, but in Rego's order; 0 behind the last. A key
 * of an object or a set is a copy that lies in a list of all of them, so that the next one is right behind it.
 */
export function nextKey(node: usize, previous: usize): usize {
  if (notes == 0 || node == 0) return opa_value_iter(node, previous)
  const type = load<u8>(node)
  if (type == layout.ARRAY) return nextIndex(node, previous)
  if (type != layout.OBJECT && type != layout.SET) return 0
  const length = load<u32>(node, layout.COLLECTION_LENGTH)
  if (length < 2) return previous != 0 ? 0 : opa_value_iter(node, 0)
  if (previous == 0) {
    const kept = findKept(notes, node)
    if (kept != 0) return kept
    const found = findSorted(notes, node, length)
    if (found != 0) return found
    wantKept(notes, node, length)
    return buildSorted(notes, node, length)
  }
  // A key that is none of ours cannot be told from one that is: the compiler hands back what it was given.
  return load<u32>(previous - SLOT_HEAD) != 0 ? previous + SLOT_BYTES : 0
}

function nextIndex(array: usize, previous: usize): usize {
  let index: i64 = 0
  if (previous != 0) {
    if (load<u16>(previous) != layout.INTEGER) return opa_value_iter(array, previous)
    index = load<i64>(previous, layout.INTEGER_VALUE) + 1
  }
  if (index < 0 || index >= (load<u32>(array, layout.ARRAY_LENGTH) as i64)) return 0
  return load<u32>((load<u32>(array, layout.ARRAY_ELEMENTS) as usize) + ((index as usize) << 3))
}
