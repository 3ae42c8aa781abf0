import { VALUE } from '../masking/scan-words.js'
import { unite, uniteEqual } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { isVariable } from './is-variable.js'
import { isRealWord } from './word-kind.js'

/** Maximum number of places of a template that are values only by the number of their words. */
const MAX_ROUNDS = 6

/** Unites patterns of one length that differ at one place only, if that place holds a value. */
export function mergeSiblings(patterns: readonly Pattern[]): readonly Pattern[] {
  let current = patterns
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const next = mergeOnce(current)
    if (next.length === current.length) break
    current = next
  }
  return current
}

function mergeOnce(patterns: readonly Pattern[]): readonly Pattern[] {
  const families = findSiblings(patterns)
    .filter(({ place, siblings }) => isVariable(place, siblings))
    .toSorted((a, b) => b.siblings.length - a.siblings.length)
  const taken = new Set<Pattern>()
  const united: Pattern[] = []
  for (const { place, siblings } of families) {
    // A pattern may have siblings at several places: the largest family takes it, and the others
    // wait for the next round.
    if (siblings.some((pattern) => taken.has(pattern))) continue
    for (const pattern of siblings) taken.add(pattern)
    const whole = unite(siblings)
    united.push({ ...whole, words: whole.words.with(place, VALUE) })
  }
  return uniteEqual([...patterns.filter((pattern) => !taken.has(pattern)), ...united])
}

/** Patterns that are equal except for one place. */
interface Siblings {
  readonly place: number
  readonly siblings: readonly Pattern[]
}

interface Family {
  readonly place: number
  readonly siblings: Pattern[]
}

const HOLE = 0
const SEEDS = [0x9e3779b1, 0x85ebca6b] as const
/** Later places never vary: memory is needed for each place of each pattern. */
const MAX_PLACES = 100

/**
 * All families of patterns of one length. Patterns meet under a hash of their words without one
 * place. The hash is a sum, so leaving out a place is a subtraction, and the time is linear in the
 * number of words.
 */
function findSiblings(patterns: readonly Pattern[]): readonly Siblings[] {
  const wordIds = new Map<string, number>()
  const firsts = new Map<number, Pattern>()
  const families = new Map<number, Family>()
  for (const pattern of patterns.filter(({ isFixed }) => !isFixed)) {
    const ids = pattern.words.map((word) => idOf(wordIds, word))
    const sums = SEEDS.map((seed) => ids.reduce((sum, id, place) => (sum + mix(id, place, seed)) >>> 0, 0))
    for (const place of placesOf(pattern)) {
      const key = keyWithout(sums, ids[place] ?? 0, place)
      const first = firsts.get(key)
      // Most places have no siblings, so a family is only created for a second pattern.
      if (first === undefined) firsts.set(key, pattern)
      else if (isSame(first, pattern, place)) join(families, key, place, first, pattern)
    }
  }
  return [...families.values()]
}

function placesOf({ words }: Pattern): number[] {
  return [...words.slice(0, MAX_PLACES).keys()].filter((place) => mayVary(words[place] ?? ''))
}

/** 53 bits of both sums without the word at a place. */
function keyWithout([low = 0, high = 0]: readonly number[], id: number, place: number): number {
  const [lowSeed, highSeed] = SEEDS
  return without(high, id, place, highSeed) * 2 ** 21 + (without(low, id, place, lowSeed) >>> 11)
}

function without(sum: number, id: number, place: number, seed: number): number {
  return (sum - mix(id, place, seed) + mix(HOLE, place, seed)) >>> 0
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

/** A word at a place as 32 mixed bits, by the finaliser of MurmurHash3. */
function mix(id: number, place: number, seed: number): number {
  let bits = Math.imul(id, seed) ^ Math.imul(place + 1, 0xc2b2ae35)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}

function join(
  families: Map<number, Family>,
  key: number,
  place: number,
  first: Pattern,
  pattern: Pattern,
): void {
  const family = families.get(key)
  if (family === undefined) families.set(key, { place, siblings: [first, pattern] })
  else family.siblings.push(pattern)
}

/** Two families under one hash are unlikely, but must not be taken for one. */
function isSame(first: Pattern, pattern: Pattern, but: number): boolean {
  return first.words.every((word, place) => place === but || word === pattern.words[place])
}
