import { VALUE } from '../masking/scan-words.js'
import type { Pattern } from '../pattern.js'
import { isRealWord } from './word-kind.js'

/** Patterns that are the same but for one place. */
export interface Siblings {
  readonly place: number
  readonly siblings: readonly Pattern[]
}

interface Family {
  readonly place: number
  readonly siblings: Pattern[]
}

const HOLE = 0

/**
 * All families of patterns of one length. Patterns meet under a hash of their words without one, kept as a sum so that
 * leaving one out costs a subtraction: the time is linear in the number of words.
 */
export function findSiblings(patterns: readonly Pattern[]): Siblings[] {
  const wordIds = new Map<string, number>()
  const families = new Map<number, Family>()
  for (const pattern of patterns) {
    if (pattern.isFixed) continue
    const ids = pattern.words.map((word) => idOf(wordIds, word))
    const low = ids.reduce((sum, id, place) => (sum + mix(id, place, 0x9e3779b1)) >>> 0, 0)
    const high = ids.reduce((sum, id, place) => (sum + mix(id, place, 0x85ebca6b)) >>> 0, 0)
    ids.forEach((id, place) => {
      if (!mayVary(pattern.words[place] ?? '')) return
      const without =
        without32(high, id, place, 0x85ebca6b) * 2 ** 21 + (without32(low, id, place, 0x9e3779b1) >>> 11)
      join(families, without, place, pattern)
    })
  }
  return [...families.values()].filter(({ siblings }) => siblings.length > 1)
}

function mayVary(word: string): boolean {
  return word === VALUE || isRealWord(word)
}

function idOf(ids: Map<string, number>, word: string): number {
  const known = ids.get(word)
  if (known !== undefined) return known
  ids.set(word, ids.size + 1)
  return ids.size
}

function without32(sum: number, id: number, place: number, seed: number): number {
  return (sum - mix(id, place, seed) + mix(HOLE, place, seed)) >>> 0
}

/** A word at a place as 32 mixed bits, by the finaliser of MurmurHash3. */
function mix(id: number, place: number, seed: number): number {
  let bits = Math.imul(id, seed) ^ Math.imul(place + 1, 0xc2b2ae35)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

function join(families: Map<number, Family>, key: number, place: number, pattern: Pattern): void {
  const family = families.get(key)
  if (family === undefined) families.set(key, { place, siblings: [pattern] })
  else if (isSibling(family, place, pattern)) family.siblings.push(pattern)
}

/** Two families under one hash are unlikely, but must not be taken for one. */
function isSibling({ place, siblings: [first] }: Family, at: number, pattern: Pattern): boolean {
  return place === at && (first?.words.every((word, i) => i === at || word === pattern.words[i]) ?? false)
}
