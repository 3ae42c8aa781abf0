import { text } from './text'

/** By the two bytes of a pair as a number: one more than the number of its group of words, or 0. */
export const groupOf: usize = memory.data(0x10000, 16)
/** The first lead of each group, and behind the last group where its leads end, in two bytes each. */
export const firstLeads: usize = memory.data(0x200, 16)

/**
 * What tells a word by a pair of its bytes: the word, which bits of it are no matter, where the pair is in it, its length, and its
 * number. Behind the end of the word all bits are set.
 */
export const leads: usize = memory.data(0x6000, 16)
const LEAD_BYTES: usize = 48
const FREE_BITS: usize = 16
const PAIR_AT: usize = 32
const LENGTH: usize = 36
const NUMBER: usize = 40

/** Pairs of numbers: where a word stands, and which. */
export const hits: usize = memory.data(0x4000, 16)
const MAX_HITS: i32 = 2048
/** More than the leads of the groups of one block. */
const HITS_OF_BLOCK: i32 = 1024

/** How far the last search came. */
export let searchedTo: usize = 0

let count: i32 = 0

/**
 * Puts the words in the text of this many bytes into `hits`, from a place on, which is even, and gives their number. The list may be full before
 * the end of the text: then the search is to be continued at `searchedTo`.
 */
export function findWords(from: usize, length: usize): i32 {
  const end = text + length
  v128.store(end, i8x16.splat(0))
  count = 0
  let at = text + from
  while (at < end && count <= MAX_HITS - HITS_OF_BLOCK) {
    const eight = load<u64>(at)
    const first = load<u8>(groupOf + ((eight & 0xffff) as usize))
    const second = load<u8>(groupOf + (((eight >> 16) & 0xffff) as usize))
    const third = load<u8>(groupOf + (((eight >> 32) & 0xffff) as usize))
    const fourth = load<u8>(groupOf + ((eight >> 48) as usize))
    if ((first | second | third | fourth) != 0) {
      if (first != 0) confirm(first, at, end)
      if (second != 0) confirm(second, at + 2, end)
      if (third != 0) confirm(third, at + 4, end)
      if (fourth != 0) confirm(fourth, at + 6, end)
    }
    at += 8
  }
  searchedTo = min(at - text, length)
  return count
}

/** Notes the words of the group that are around the pair. */
function confirm(group: u32, pair: usize, end: usize): void {
  const entry = firstLeads + (((group - 1) << 1) as usize)
  const last = leads + (load<u16>(entry, 2) as usize) * LEAD_BYTES
  for (let lead = leads + (load<u16>(entry) as usize) * LEAD_BYTES; lead < last; lead += LEAD_BYTES) {
    const start = pair - (load<u32>(lead, PAIR_AT) as usize)
    if (start < text || start + (load<u32>(lead, LENGTH) as usize) > end) continue
    const written = v128.or(v128.load(start), v128.load(lead, FREE_BITS))
    if (!i8x16.all_true(i8x16.eq(written, v128.load(lead)))) continue
    const hit = hits + ((count as usize) << 3)
    store<u32>(hit, (start - text) as u32)
    store<u32>(hit, load<u32>(lead, NUMBER), 4)
    count++
  }
}
