/** A word to be found: ASCII, of 3 to 16 bytes. */
export interface SearchedWord {
  readonly word: string
  /** Whether it is found in any letter case. */
  readonly isAnyCase: boolean
}

/** A word's number and bytes, which bit of each is no matter, and where the pair stands by which it is found. */
export interface Lead {
  readonly number: number
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

/** The word by the rarest of its pairs at even places, and by that at odd ones. */
export function leadsOf(word: SearchedWord, number: number): Lead[] {
  const bytes = Buffer.from(word.isAnyCase ? word.word.toLowerCase() : word.word, 'latin1')
  const freeBits = bytes.map((byte) => (word.isAnyCase && isLetter(byte) ? CASE_BIT : 0))
  return [0, 1].map((parity) => ({ number, bytes, freeBits, pairAt: rarestPair(bytes, parity) }))
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

/** The pair in lower case: leads of the same one make a group. */
export function pairOf({ bytes, pairAt }: Lead): string {
  return lowerCase(bytes.subarray(pairAt, pairAt + 2))
}

/** The pair in every letter case in which it may stand, each as a number of two bytes, the first the lower. */
export function pairNumbers({ bytes, freeBits, pairAt }: Lead): number[] {
  const cases = (at: number): number[] => {
    const byte = bytes[at] ?? 0
    return freeBits[at] === CASE_BIT ? [byte, byte ^ CASE_BIT] : [byte]
  }
  return cases(pairAt).flatMap((first) => cases(pairAt + 1).map((second) => first | (second << 8)))
}

function lowerCase(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').toLowerCase()
}

function isLetter(byte: number): boolean {
  const lower = byte | CASE_BIT
  return lower >= 0x61 && lower <= 0x7a
}
