import { endianness } from 'node:os'

/** A word to be found: ASCII, of three bytes at least. */
export interface SearchedWord {
  readonly word: string
  /** Whether it is found in any letter case. */
  readonly isAnyCase: boolean
}

/** A word's bytes, which bit of each is no matter, and where the pair stands by which it is found. */
interface Lead<W> {
  readonly word: W
  readonly bytes: Uint8Array
  readonly freeBits: Uint8Array
  readonly pairAt: number
}

/** The most frequent pairs of letters in English, with the first the most. */
const FREQUENT_PAIRS = [
  'th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic',
  'ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un',
  'lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev',
  'ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu',
  'rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt',
  'ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf',
].flatMap((line) => line.split(' '))
const CASE_BIT = 0x20
/** Where the first two and the last two of four bytes stand in their number. */
const [FIRST_PAIR, SECOND_PAIR] = endianness() === 'LE' ? [0, 16] : [16, 0]

/**
 * Finds words in bytes, all of them in one pass that looks at every second pair of bytes only: a word of three bytes or more has a pair at an
 * even place and one at an odd place, and is known by the rarest of each. A text without any costs less than a nanosecond a byte.
 */
export class WordSearch<W extends SearchedWord> {
  /** By the two bytes of a pair as a number in the order of the machine: one more than the index of its leads, or 0. */
  readonly #groupOf = new Uint8Array(0x1_00_00)
  readonly #groups: readonly (readonly Lead<W>[])[]

  /** So many words that they have no more than 255 different pairs. */
  constructor(words: readonly W[]) {
    const groups = new Map<string, Lead<W>[]>()
    for (const lead of words.flatMap(leadsOf)) {
      const pair = lowerCase(lead.bytes.subarray(lead.pairAt, lead.pairAt + 2))
      groups.set(pair, [...(groups.get(pair) ?? []), lead])
    }
    this.#groups = [...groups.values()]
    this.#groups.forEach((leads, index) => {
      for (const number of leads.flatMap(pairNumbers)) this.#groupOf[number] = index + 1
    })
  }

  /** Tells each word that stands in `bytes` and where, nearly in the order of the text. */
  find(bytes: Uint8Array, found: (word: W, at: number) => void): void {
    // Two pairs are read at once from an aligned address: before the first and behind the last there may be what is not of this text.
    const skew = bytes.byteOffset & 3
    const start = bytes.byteOffset - skew
    const whole = Math.min((bytes.length + skew + 3) >> 2, (bytes.buffer.byteLength - start) >> 2)
    const words = new Int32Array(bytes.buffer, start, whole)
    const groupOf = this.#groupOf
    for (let index = 0; index < whole; index++) {
      const two = words[index] ?? 0
      const first = groupOf[(two >>> FIRST_PAIR) & 0xffff] ?? 0
      const second = groupOf[(two >>> SECOND_PAIR) & 0xffff] ?? 0
      if ((first | second) === 0) continue
      if (first !== 0) this.#confirm(first - 1, bytes, index * 4 - skew, found)
      if (second !== 0) this.#confirm(second - 1, bytes, index * 4 - skew + 2, found)
    }
    // What is left of memory that does not end at such an address.
    for (let at = whole * 4 - skew; at + 2 <= bytes.length; at += 2) {
      const group = groupOf[pairNumber(bytes[at] ?? 0, bytes[at + 1] ?? 0)] ?? 0
      if (group !== 0) this.#confirm(group - 1, bytes, at, found)
    }
  }

  #confirm(group: number, bytes: Uint8Array, pairAt: number, found: (word: W, at: number) => void): void {
    const leads = this.#groups[group]
    for (let i = 0, lead = leads?.[0]; lead !== undefined; lead = leads?.[++i]) {
      const at = pairAt - lead.pairAt
      if (standsAt(lead, bytes, at)) found(lead.word, at)
    }
  }
}

function standsAt<W>(lead: Lead<W>, bytes: Uint8Array, at: number): boolean {
  const { bytes: word, freeBits } = lead
  if (at < 0 || at + word.length > bytes.length) return false
  for (let i = 0; i < word.length; i++) {
    if (((bytes[at + i] ?? 0) | (freeBits[i] ?? 0)) !== word[i]) return false
  }
  return true
}

/** The word by the rarest of its pairs at even places, and by that at odd ones. */
function leadsOf<W extends SearchedWord>(word: W): Lead<W>[] {
  const bytes = Buffer.from(word.isAnyCase ? word.word.toLowerCase() : word.word, 'latin1')
  const freeBits = bytes.map((byte) => (word.isAnyCase && isLetter(byte) ? CASE_BIT : 0))
  return [0, 1].map((parity) => ({ word, bytes, freeBits, pairAt: rarestPair(bytes, parity) }))
}

function rarestPair(bytes: Uint8Array, parity: number): number {
  let rarest = parity
  for (let at = parity; at + 2 <= bytes.length; at += 2) {
    if (rarity(bytes, at) > rarity(bytes, rarest)) rarest = at
  }
  return rarest
}

function rarity(bytes: Uint8Array, at: number): number {
  const place = FREQUENT_PAIRS.indexOf(lowerCase(bytes.subarray(at, at + 2)))
  return place === -1 ? FREQUENT_PAIRS.length : place
}

/** The pair in every letter case in which it may stand. */
function pairNumbers<W>({ bytes, freeBits, pairAt }: Lead<W>): number[] {
  const cases = (at: number): number[] => {
    const byte = bytes[at] ?? 0
    return freeBits[at] === CASE_BIT ? [byte, byte ^ CASE_BIT] : [byte]
  }
  return cases(pairAt).flatMap((first) => cases(pairAt + 1).map((second) => pairNumber(first, second)))
}

function pairNumber(first: number, second: number): number {
  return FIRST_PAIR === 0 ? first | (second << 8) : (first << 8) | second
}

function lowerCase(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').toLowerCase()
}

function isLetter(byte: number): boolean {
  const lower = byte | CASE_BIT
  return lower >= 0x61 && lower <= 0x7a
}
