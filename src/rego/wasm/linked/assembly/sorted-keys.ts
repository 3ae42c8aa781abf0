import * as layout from './value-layout'

const MAX_KEPT: usize = 32
/**
 * Layout of the notes: the number of the current evaluation, which invalidates older notes; the
 * number of base documents that should stay sorted and their addresses; the number of those that
 * do, with two words each.
 */
const WANTED: usize = 8
const KEPT: usize = 12
const WANTED_LIST: usize = 16
const KEPT_LIST: usize = WANTED_LIST + (MAX_KEPT << 2)
const HEAD_BYTES: usize = KEPT_LIST + (MAX_KEPT << 3)
/** Smaller collections sort quickly; larger ones would block the thread. */
const MIN_KEPT_LENGTH: u32 = 32
const MAX_KEPT_LENGTH: u32 = 65_536
/** A note: collection, length, table, first sorted key, and the evaluation that wrote it. */
const NOTE_BYTES: usize = 24
const NOTE_BITS: u32 = 9

export function notesBytes(): usize {
  return HEAD_BYTES + (NOTE_BYTES << NOTE_BITS)
}

/** End of the base documents, which persist between evaluations. */
let dataEnd: usize = 0

export function setDataEnd(address: usize): void {
  dataEnd = address
}

/** Returns the first key of a base document that is kept sorted; 0 if it is not. */
export function findKept(notes: usize, node: usize): usize {
  if (node >= dataEnd) return 0
  const end = notes + KEPT_LIST + ((load<u32>(notes, KEPT) as usize) << 3)
  for (let at = notes + KEPT_LIST; at < end; at += 8) {
    if (load<u32>(at) == (node as u32)) return load<u32>(at, 4)
  }
  return 0
}

/** Requests that the host keeps a base document sorted. */
export function wantKept(notes: usize, node: usize, length: u32): void {
  const count = load<u32>(notes, WANTED) as usize
  const isWorthIt = node < dataEnd && length >= MIN_KEPT_LENGTH && length <= MAX_KEPT_LENGTH
  if (!isWorthIt || count + (load<u32>(notes, KEPT) as usize) >= MAX_KEPT) return
  store<u32>(notes + WANTED_LIST + (count << 2), node as u32)
  store<u32>(notes, (count as u32) + 1, WANTED)
}

/** Removes and returns the next requested document; 0 if there is none. */
export function takeWanted(notes: usize): usize {
  const count = load<u32>(notes, WANTED)
  if (count == 0) return 0
  store<u32>(notes, count - 1, WANTED)
  return load<u32>(notes + WANTED_LIST + ((count - 1) << 2))
}

export function noteKept(notes: usize, node: usize, first: usize): void {
  const count = load<u32>(notes, KEPT)
  const at = notes + KEPT_LIST + ((count as usize) << 3)
  store<u32>(at, node as u32)
  store<u32>(at, first as u32, 4)
  store<u32>(notes, count + 1, KEPT)
}

/** Returns the first key if sorted in this evaluation and not grown since; else 0. */
export function findSorted(notes: usize, node: usize, length: u32): usize {
  const note = noteOf(notes, node)
  const isKnown =
    load<u32>(note) == (node as u32) &&
    load<u32>(note, 4) == length &&
    load<u32>(note, 8) == load<u32>(node, layout.BUCKETS) &&
    load<u64>(note, 16) == load<u64>(notes)
  return isKnown ? (load<u32>(note, 12) as usize) : 0
}

/** Stores the sorted keys of a collection, replacing another one in the same slot. */
export function noteSorted(notes: usize, node: usize, length: u32, first: usize): void {
  const note = noteOf(notes, node)
  store<u32>(note, node)
  store<u32>(note, length, 4)
  store<u32>(note, load<u32>(node, layout.BUCKETS), 8)
  store<u32>(note, first, 12)
  store<u64>(note, load<u64>(notes), 16)
}

function noteOf(notes: usize, node: usize): usize {
  const slot = (((node as u32) >> 2) * 0x9e3779b1) >> (32 - NOTE_BITS)
  return notes + HEAD_BYTES + (slot as usize) * NOTE_BYTES
}
