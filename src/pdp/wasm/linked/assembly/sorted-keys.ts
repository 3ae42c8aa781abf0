import * as layout from './value-layout'

/** The evaluation that is under way, which the host counts; what another one noted is void. */
const HEAD_BYTES: usize = 16
/** A collection, its length and its table, where its first key lies, and when that was noted. */
const NOTE_BYTES: usize = 24
const NOTE_BITS: u32 = 9

/** How many bytes of memory the notes take. */
export function notesBytes(): usize {
  return HEAD_BYTES + (NOTE_BYTES << NOTE_BITS)
}

/** The first key of a collection that was sorted in this evaluation, and has not grown since; 0 where there is none. */
export function findSorted(notes: usize, node: usize, length: u32): usize {
  const note = noteOf(notes, node)
  const isKnown =
    load<u32>(note) == (node as u32) &&
    load<u32>(note, 4) == length &&
    load<u32>(note, 8) == load<u32>(node, layout.BUCKETS) &&
    load<u64>(note, 16) == load<u64>(notes)
  return isKnown ? (load<u32>(note, 12) as usize) : 0
}

/** Remembers where the sorted keys of a collection are, in the place of another one that shares the note. */
export function noteSorted(notes: usize, node: usize, length: u32, first: usize): void {
  const note = noteOf(notes, node)
  store<u32>(note, node)
  store<u32>(note, length, 4)
  store<u32>(note, load<u32>(node, layout.BUCKETS), 8)
  store<u32>(note, first, 12)
  store<u64>(note, load<u64>(notes), 16)
}

function noteOf(notes: usize, node: usize): usize {
  const place = (((node as u32) >> 2) * 0x9e3779b1) >> (32 - NOTE_BITS)
  return notes + HEAD_BYTES + (place as usize) * NOTE_BYTES
}
