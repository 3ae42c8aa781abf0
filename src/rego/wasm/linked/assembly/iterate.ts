import { opa_value_iter } from './policy'
import { findKept, findSorted, noteKept, setDataEnd, takeWanted, wantKept } from './sorted-keys'
import { buildSorted, SLOT_BYTES, SLOT_HEAD } from './sort-keys'
import * as layout from './value-layout'

/** Address of the notes; 0 if the layout is unknown, which keeps the runtime's order. */
let notes: usize = 0
/** Number of the module's last built-in call, from 1 (calls/call-sites.ts). */
export let callSite: u32 = 0

/** Sets the addresses of the notes and of the end of the base documents. */
export function setNotes(address: usize, dataEnd: usize): void {
  notes = address
  callSite = 0
  setDataEnd(dataEnd)
}

/** Sorts the next wanted base document permanently; false if there is none. */
export function keepNext(): bool {
  const node = takeWanted(notes)
  if (node == 0) return false
  if (findKept(notes, node) == 0) {
    noteKept(notes, node, buildSorted(notes, node, load<u32>(node, layout.COLLECTION_LENGTH)))
  }
  return true
}

/**
 * Returns the key after `previous` in Rego's order, or the first if `previous` is 0, as
 * `opa_value_iter` does; 0 after the last. Keys of an object or a set are copies in one list, so
 * the next key is adjacent.
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
  // A foreign key cannot be recognized; the compiler only passes back what it received.
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
