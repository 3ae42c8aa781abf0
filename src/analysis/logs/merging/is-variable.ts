import { VALUE } from '../masking/scan-words.js'
import { NAMING_WORDS } from '../masking/vocabulary.js'
import type { Pattern } from '../pattern.js'
import { commonKind, countTellingWords, isRealWord } from './word-kind.js'

/** Where in a template the place stands. */
interface Frame {
  readonly before: string
  /** The words that all siblings share. */
  readonly words: number
  /** Whether no other word or value comes before. */
  readonly isStart: boolean
}

/** With fewer shared words than this two messages are alike by chance. */
const LEAST_SHARED_WORDS = 2
const MANY_SHARED_WORDS = 3

/**
 * Whether the one place at which these patterns differ holds a value. A few different words are taken for different
 * messages (`VM paused`, `VM resumed`), many for values of one; how many are needed depends on what the words look like and
 * on what stands before them. A word where others already have a value is mostly one too.
 */
export function isVariable(place: number, siblings: readonly Pattern[]): boolean {
  const [first] = siblings
  if (first === undefined) return false
  const frame = frameOf(first.words, place)
  const words = siblings.map((pattern) => pattern.words[place] ?? '').filter((word) => word !== VALUE)
  const needed = valuesNeeded(frame, words, words.length < siblings.length)
  return siblings.length >= (frame.words < LEAST_SHARED_WORDS ? needed * 2 : needed)
}

function valuesNeeded(frame: Frame, words: readonly string[], isValueElsewhere: boolean): number {
  const kind = commonKind(words)
  if (kind === 'state') return 12
  const needed = neededByPlace(frame, kind)
  if (!isValueElsewhere || frame.words < LEAST_SHARED_WORDS) return needed
  return Math.min(needed, frame.isStart ? 3 : 2)
}

function neededByPlace(frame: Frame, kind: 'dotted' | 'capitalised' | 'plain'): number {
  if (frame.isStart) return 12
  if (kind === 'dotted') return 3
  if (frame.before === '=' || frame.before === ':') return 5
  if (frame.before === '"' || frame.before === "'") return 4
  if (kind === 'capitalised') return 8
  if (NAMING_WORDS.has(frame.before.toLowerCase())) return frame.words >= MANY_SHARED_WORDS ? 2 : 3
  return 6
}

function frameOf(words: readonly string[], place: number): Frame {
  return {
    before: words[place - 1] ?? '',
    words: countTellingWords(words.toSpliced(place, 1)),
    isStart: !words.slice(0, place).some((word) => word === VALUE || isRealWord(word)),
  }
}
