import { isClosing, isOpening } from '../masking/characters.js'
import { isMessageField } from '../masking/mask-quoted.js'
import { VALUE } from '../masking/scan-words.js'
import { NAMING_WORDS } from '../masking/vocabulary.js'
import type { Pattern } from '../model/pattern.js'
import { commonKind, countMeaningfulWords, isRealWord, mayBeCause } from './word-kind.js'
import type { WordKind } from './word-kind.js'

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
export function isVariable(place: number, siblings: readonly Pattern[]): boolean {
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
