import { VALUE } from '../masking/scan-words.js'
import { keyWords, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { giveToHomes } from './give-to-homes.js'
import { commonKind, countMeaningfulWords, isRealWord } from './word-kind.js'

const MIN_SHARED_WORDS = 3
/** So many different words at a place show that it holds words, and not numbers only. */
const MIN_WORDS = 2
/** Sets of places of one length that are tried: each costs a look at every pattern. */
const MAX_SHAPES = 100

/**
 * Gives patterns of one length to the one that has values wherever they differ from it: where several words vary together, most of their
 * combinations come once and have no siblings.
 */
export function absorbInstances(patterns: readonly Pattern[]): readonly Pattern[] {
  const homes = patterns.map(homeOf).filter((home) => home !== undefined)
  if (homes.length === 0) return patterns
  const shapes = shapesOf(homes)
  return giveToHomes(patterns, (pattern, given) => {
    const home = findHome(pattern, shapes)
    return home !== undefined && given.has(home) ? undefined : home
  })
}

/** A pattern with places at which its lines were seen to have different words. */
interface Home {
  readonly pattern: Pattern
  readonly places: readonly number[]
}

function homeOf(pattern: Pattern): Home | undefined {
  const { words, rows } = pattern
  if (rows.length <= MIN_WORDS || countMeaningfulWords(words) < MIN_SHARED_WORDS) return undefined
  const places = placesOfWords(pattern)
  return places.length > 1 ? { pattern, places } : undefined
}

/** The places at which the lines of a pattern were seen to have different words. */
export function placesOfWords({ words, isFixed, rows, origins }: Pattern): readonly number[] {
  if (isFixed || rows.length < MIN_WORDS) return []
  const lines = origins.map(keyWords).filter(({ length }) => length === words.length)
  return [...words.keys()].filter((place) => {
    if (words[place] !== VALUE) return false
    return new Set(lines.map((line) => line[place] ?? '').filter(isRealWord)).size >= MIN_WORDS
  })
}

interface Shape {
  readonly places: readonly number[]
  readonly homes: Map<string, Pattern>
}

function shapesOf(homes: readonly Home[]): readonly Shape[] {
  const shapes = new Map<string, Shape>()
  for (const { pattern, places } of homes) {
    const shape = shapes.get(places.join()) ?? { places, homes: new Map<string, Pattern>() }
    shapes.set(places.join(), shape)
    shape.homes.set(wordsKey(pattern.words), pattern)
  }
  return [...shapes.values()].slice(0, MAX_SHAPES)
}

function findHome(pattern: Pattern, shapes: readonly Shape[]): Pattern | undefined {
  for (const { places, homes } of shapes) {
    const words = [...pattern.words]
    for (const place of places) if (mayBeValue(words[place] ?? '')) words[place] = VALUE
    const home = homes.get(wordsKey(words))
    if (home !== undefined && home !== pattern) return home
  }
  return undefined
}

/** Whether it is a word that may be a value: those in capitals and failures say what happened. */
export function mayBeValue(word: string): boolean {
  return isRealWord(word) && commonKind([word]) !== 'state'
}
