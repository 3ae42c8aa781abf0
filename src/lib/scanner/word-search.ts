import { openScanner, TEXT_BYTES } from './scanner.js'
import type { Scanner } from './scanner.js'
import { leadsOf, pairNumbers, pairOf } from './word-leads.js'
import type { Lead, SearchedWord } from './word-leads.js'

/** How `assembly/find-words.ts` lays leads out. */
const LEAD_BYTES = 48
const [FREE_BITS, PAIR_AT, LENGTH, NUMBER] = [16, 32, 36, 40]
const MAX_LEADS = 512
const MAX_GROUPS = 255
const MAX_HITS = 2048
const LONGEST_WORD = 16
/** Of a longer text so much is looked through at once; parts overlap, so that a word is whole in one of them. */
const PART_BYTES = TEXT_BYTES - LONGEST_WORD

/**
 * Finds words in bytes, all of them in one pass that looks at every second pair of bytes only: a word of three bytes or more has a pair at an
 * even place and one at an odd place, and is known by the rarest of each. The pass is WebAssembly.
 */
export class WordSearch<W extends SearchedWord> {
  readonly #words: readonly W[]
  readonly #scanner: Scanner
  readonly #text: Uint8Array
  readonly #hits: Uint32Array

  /** So many words that they have no more than 255 different pairs. Raises the errors of `openScanner`. */
  constructor(words: readonly W[]) {
    this.#words = words
    this.#scanner = openScanner()
    const { memory, text, hits } = this.#scanner
    this.#text = new Uint8Array(memory.buffer, text.value, TEXT_BYTES)
    this.#hits = new Uint32Array(memory.buffer, hits.value, MAX_HITS * 2)
    writeGroups(this.#scanner, groupsOf(words.flatMap(leadsOf)))
  }

  /** Tells each word that is in `bytes` and where, nearly in the order of the text. `found` must not search with this again. */
  find(bytes: Uint8Array, found: (word: W, at: number) => void): void {
    if (bytes.length <= TEXT_BYTES) {
      this.#findIn(bytes, 0, bytes.length, found)
      return
    }
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      this.#findIn(bytes.subarray(from, from + TEXT_BYTES), from, PART_BYTES, found)
    }
  }

  /** The words of a part that begin before `end`. */
  #findIn(part: Uint8Array, offset: number, end: number, found: (word: W, at: number) => void): void {
    const scanner = this.#scanner
    this.#text.set(part)
    for (let from = 0; from < part.length; from = scanner.searchedTo.value) {
      const numbers = scanner.findWords(from, part.length) * 2
      for (let i = 0; i < numbers; i += 2) {
        const at = this.#hits[i] ?? 0
        const word = this.#words[this.#hits[i + 1] ?? 0]
        if (at < end && word !== undefined) found(word, offset + at)
      }
    }
  }
}

function groupsOf(leads: readonly Lead[]): Lead[][] {
  const groups = new Map<string, Lead[]>()
  for (const lead of leads) {
    const pair = pairOf(lead)
    groups.set(pair, [...(groups.get(pair) ?? []), lead])
  }
  return [...groups.values()]
}

function writeGroups({ memory, groupOf, firstLeads, leads }: Scanner, groups: readonly Lead[][]): void {
  const groupOfPair = new Uint8Array(memory.buffer, groupOf.value, 0x1_00_00)
  const firstOf = new Uint16Array(memory.buffer, firstLeads.value, MAX_GROUPS + 1)
  const laidOut = new Uint8Array(memory.buffer, leads.value, MAX_LEADS * LEAD_BYTES)
  let count = 0
  groups.forEach((group, index) => {
    firstOf[index] = count
    for (const lead of group) {
      laidOut.set(layOut(lead), LEAD_BYTES * count++)
      for (const pair of pairNumbers(lead)) groupOfPair[pair] = index + 1
    }
  })
  firstOf[groups.length] = count
}

function layOut({ number, bytes, freeBits, pairAt }: Lead): Uint8Array {
  const laidOut = new Uint8Array(LEAD_BYTES).fill(0xff, 0, 2 * LONGEST_WORD)
  laidOut.set(bytes)
  laidOut.set(freeBits, FREE_BITS)
  const view = new DataView(laidOut.buffer)
  view.setUint32(PAIR_AT, pairAt, true)
  view.setUint32(LENGTH, bytes.length, true)
  view.setUint32(NUMBER, number, true)
  return laidOut
}
