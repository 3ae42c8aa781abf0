import { cross, group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import { keyWords, wordsKey, coverage, firstRow, unite } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { commonKind, countMeaningfulWords, isRealWord } from './word-kind.js'

const MIN_SHARED_WORDS = 3
/** Number of different words that shows a place to hold words and not only numbers. */
const MIN_WORDS = 2
/** Maximum number of sets of places tried for one length. Each costs a lookup for every pattern. */
const MAX_SHAPES = 100

/**
 * Gives patterns of one length to the pattern with values wherever they differ from it. If several
 * words vary together, most combinations occur once and have no siblings.
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

/** A pattern with places at which its lines had different words. */
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

/** The places at which the lines of a pattern had different words. */
function placesOfWords({ words, isFixed, rows, origins }: Pattern): readonly number[] {
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

/** Whether a word may be a value. Words in capitals and failures are outcomes. */
function mayBeValue(word: string): boolean {
  return isRealWord(word) && commonKind([word]) !== 'state'
}

/**
 * The pattern that another one is given to; undefined if there is none. It must not be in `given`.
 */
type FindHome = (pattern: Pattern, given: ReadonlySet<Pattern>) => Pattern | undefined

/**
 * Gives each pattern to its home, unless its words are fixed or it is a home itself. The others
 * keep their order.
 */
function giveToHomes(patterns: readonly Pattern[], findHome: FindHome): readonly Pattern[] {
  const taken = new Map<Pattern, Pattern[]>()
  const given = new Set<Pattern>()
  for (const pattern of patterns) {
    const home = pattern.isFixed || taken.has(pattern) ? undefined : findHome(pattern, given)
    if (home === undefined) continue
    given.add(pattern)
    const guests = taken.get(home)
    if (guests === undefined) taken.set(home, [pattern])
    else guests.push(pattern)
  }
  return patterns
    .filter((pattern) => !given.has(pattern))
    .map((pattern) => {
      const guests = taken.get(pattern)
      if (guests === undefined) return pattern
      const ordered = [pattern, ...guests].toSorted((a, b) => firstRow(a) - firstRow(b))
      return { ...pattern, ...coverage(ordered) }
    })
}

/** Sets of places of one length that are tried in pairs. */
const MAX_PAIRED_SHAPES = 20

/**
 * Unites patterns of one length that differ only at places where one of them is known to hold
 * values: `name=<*> cmd=get` and `name=web cmd=<*>`.
 */
export function joinCrossing(patterns: readonly Pattern[]): readonly Pattern[] {
  const shapes = [...group(patterns, (pattern) => placesOfWords(pattern).join())]
    .filter(([places]) => places !== '')
    .slice(0, MAX_PAIRED_SHAPES)
  const taken = new Set<Pattern>()
  const united: Pattern[] = []
  for (const [[one, ones], [other, others]] of cross(shapes, shapes)) {
    if (one >= other) continue
    const places = new Set(`${one},${other}`.split(',').map(Number))
    const free = [...ones, ...others].filter((pattern) => !taken.has(pattern))
    for (const family of group(free, (pattern) => keyWithout(pattern, places)).values()) {
      const fromOne = family.filter((pattern) => ones.includes(pattern)).length
      if (fromOne === 0 || fromOne === family.length) continue
      for (const pattern of family) taken.add(pattern)
      united.push(unite(family))
    }
  }
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...united]
}

function keyWithout({ words }: Pattern, places: ReadonlySet<number>): string {
  const masked = words.map((word, place) => (places.has(place) && mayBeValue(word) ? VALUE : word))
  return countMeaningfulWords(masked) < MIN_SHARED_WORDS ? wordsKey(words) : wordsKey(masked)
}
