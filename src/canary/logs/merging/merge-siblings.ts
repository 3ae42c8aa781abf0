import { VALUE } from '../masking/scan-words.js'
import { unite, uniteEqual } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { isRealWord, commonKind, countMeaningfulWords, mayBeCause } from './word-kind.js'
import { isClosing, isOpening } from '../masking/characters.js'
import { isMessageField } from '../masking/mask-quoted.js'
import { NAMING_WORDS } from '../masking/vocabulary.js'
import type { WordKind } from './word-kind.js'

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

/** The surroundings of a place in a template. */
interface Frame {
  readonly before: string
  /** The name of the field whose value it is, quoted or not. Empty if there is none. */
  readonly field: string
  /** The words that all siblings share. */
  readonly words: number
  /** Whether no other word or value comes before. */
  readonly isStart: boolean
  /** Whether it is alone in brackets. */
  readonly isBracketed: boolean
  readonly mayBeCause: boolean
}

/** With fewer shared words than this two messages are alike by chance. */
const MIN_SHARED_WORDS = 2
const LONG_MESSAGE_WORDS = 3

const SWITCHES: ReadonlySet<string> = new Set(['on', 'off', 'yes', 'no'])
const PREPOSITIONS: ReadonlySet<string> = new Set([
  'by',
  'via',
  'from',
  'at',
  'in',
  'of',
  'into',
  'within',
  'with',
])

/**
 * The number of different words at a place from which they are values, by their form and
 * surroundings.
 */
const NEEDED = {
  state: 12,
  start: 12,
  capitalised: 8,
  capitalisedName: 4,
  plain: 6,
  field: 5,
  quoted: 3,
  plainField: 3,
  namedField: 4,
  bracketed: 3,
  afterPreposition: 4,
  switched: 2,
  dottedStart: 4,
  dotted: 3,
  named: 3,
  namedInLongMessage: 2,
  startNextToValue: 3,
  nextToValue: 2,
} as const

/**
 * Whether the one place at which these patterns differ holds a value. A few different words are
 * different messages (`VM paused`, `VM resumed`), many are values of one message. The number
 * depends on the form of the words and on the words before them. A word next to other patterns'
 * values is usually a value too.
 */
function isVariable(place: number, siblings: readonly Pattern[]): boolean {
  const [first] = siblings
  if (first === undefined) return false
  const frame = frameOf(first.words, place)
  const words = siblings.map((pattern) => pattern.words[place] ?? '').filter((word) => word !== VALUE)
  const needed = valuesNeeded(frame, words, words.length < siblings.length)
  return siblings.length >= (frame.words < MIN_SHARED_WORDS ? needed * 2 : needed)
}

function valuesNeeded(frame: Frame, words: readonly string[], isValueElsewhere: boolean): number {
  const kind = commonKind(words)
  if (isSwitch(frame, words)) return NEEDED.switched
  // A quoted word is a value if others have a value there, even in capitals.
  const isQuotedNextToValue = isValueElsewhere && (frame.before === "'" || frame.before === '"')
  if (kind === 'state' && !isQuotedNextToValue) return NEEDED.state
  const needed = neededByPlace(frame, kind, words)
  if (!isValueElsewhere || frame.words < MIN_SHARED_WORDS) return needed
  return Math.min(needed, frame.isStart ? NEEDED.startNextToValue : NEEDED.nextToValue)
}

function neededByPlace(frame: Frame, kind: WordKind, words: readonly string[]): number {
  const { before } = frame
  if (frame.isStart) return neededAtStart(frame, kind)
  if (kind === 'dotted') return NEEDED.dotted
  if (frame.field !== '') return neededInField(frame.field)
  if (before === ':') return NEEDED.field
  if (before === '"' || before === "'") return NEEDED.quoted
  const saysWhat = frame.mayBeCause || mostlyDone(words)
  if (frame.isBracketed && !saysWhat) return NEEDED.bracketed
  const isNamed = NAMING_WORDS.has(before.toLowerCase()) && !mostlyDone(words)
  const isAfterPreposition = PREPOSITIONS.has(before) && frame.words >= LONG_MESSAGE_WORDS && !saysWhat
  if (!isNamed && isAfterPreposition) return NEEDED.afterPreposition
  if (kind === 'capitalised') return isNamed ? NEEDED.capitalisedName : NEEDED.capitalised
  if (!isNamed) return NEEDED.plain
  return frame.words >= LONG_MESSAGE_WORDS ? NEEDED.namedInLongMessage : NEEDED.named
}

/** Many systems begin a line with the name of the part that speaks. */
function neededAtStart({ words }: Frame, kind: WordKind): number {
  return kind === 'dotted' && words >= LONG_MESSAGE_WORDS ? NEEDED.dottedStart : NEEDED.start
}

/** `zone=eu` and `zone=us` are one message, `reason=full` and `reason=gone` are two. */
function neededInField(field: string): number {
  if (isMessageField(field)) return NEEDED.field
  return NAMING_WORDS.has(field.toLowerCase()) ? NEEDED.namedField : NEEDED.plainField
}

/**
 * `for reading`, `for writing` and `(skipped)` are actions and not names; a name in parts is a name
 * (`shard-started`).
 */
function isParticiple(word: string): boolean {
  return /^[^-_.]*(?:ed|ing)$/.test(word)
}

/** A name may end like that, too: `billing`, `search` and `audit`. */
function mostlyDone(words: readonly string[]): boolean {
  return words.filter(isParticiple).length * 2 >= words.length
}

/** `is on` and `is off` are one message; `turned on` and `turned off` are two. */
function isSwitch({ before }: Frame, words: readonly string[]): boolean {
  return words.every((word) => SWITCHES.has(word)) && !/(?:ed|ing|turn|switch|power)$/i.test(before)
}

function fieldOf(words: readonly string[], place: number): string {
  const before = words[place - 1] ?? ''
  const joint = before === '"' || before === "'" ? place - 2 : place - 1
  const name = words[joint] === '=' ? (words[joint - 1] ?? '') : ''
  return isRealWord(name) ? name : ''
}

function frameOf(words: readonly string[], place: number): Frame {
  return {
    before: words[place - 1] ?? '',
    field: fieldOf(words, place),
    words: countMeaningfulWords(words.toSpliced(place, 1)),
    isBracketed: isOpening(words[place - 1] ?? '') && isClosing(words[place + 1] ?? ''),
    mayBeCause: mayBeCause(words, place),
    isStart: !words.slice(0, place).some((word) => word === VALUE || isRealWord(word)),
  }
}
