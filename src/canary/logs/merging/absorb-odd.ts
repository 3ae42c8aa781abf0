import { group } from 'd3-array'

import { VALUE } from '../masking/scan-words.js'
import type { Pattern } from '../model/pattern.js'
import { giveToHomes } from './give-to-homes.js'
import { countMeaningfulWords, isRealWord } from './word-kind.js'

/** How many lines a pattern has. */
export type LinesOf = (pattern: Pattern) => number

/** An odd line is one of a few beside so many times as many. */
const MAX_ODD = 3
const TIMES_AS_MANY = 50
const MIN_SHARED_WORDS = 3
/** With an address in place of the value fewer words are enough, and so are fewer lines. */
const MIN_WORDS_NEXT_TO_ADDRESS = 2
/** Words that a value may have where the others have one. */
const MAX_WORDS = 3

/**
 * Gives odd lines to the pattern of the many where they differ in one value only: a name of several words, or one in capitals, among numbers
 * (`by John Smith`), or a symbolic address among numeric ones (`localhost:80`), however many have that.
 */
export function absorbOdd(patterns: readonly Pattern[], linesOf: LinesOf): readonly Pattern[] {
  const wide = patterns.filter(({ words, isFixed }) => !isFixed && words.includes(VALUE))
  const byStart = group(wide, ({ words }) => words[0] ?? '')
  return giveToHomes(patterns, (odd, given) =>
    [...(byStart.get(odd.words[0] ?? '') ?? []), ...(byStart.get(VALUE) ?? [])].find(
      (common) => common !== odd && !given.has(common) && belongs(odd, common, linesOf),
    ),
  )
}

function belongs(odd: Pattern, common: Pattern, linesOf: LinesOf): boolean {
  const span = spanOf(odd, common)
  if (span === undefined) return false
  const shared = countMeaningfulWords(common.words)
  if (isAddress(odd, span)) return shared >= MIN_WORDS_NEXT_TO_ADDRESS
  if (shared < MIN_SHARED_WORDS || !mayBeValue(odd, span)) return false
  const lines = linesOf(odd)
  return lines <= MAX_ODD && linesOf(common) >= TIMES_AS_MANY * lines
}

interface Span {
  readonly start: number
  readonly end: number
}

/** The words of the one in place of the only value of the other in which they differ. */
function spanOf({ words: odd }: Pattern, { words: common }: Pattern): Span | undefined {
  const more = odd.length - common.length
  if (more < 0) return undefined
  let start = 0
  while (start < common.length && odd[start] === common[start]) start += 1
  if (common[start] !== VALUE) return undefined
  for (let behind = start + 1; behind < common.length; behind += 1) {
    if (odd[behind + more] !== common[behind]) return undefined
  }
  return { start, end: start + more + 1 }
}

function isAddress({ words, gaps }: Pattern, { start, end }: Span): boolean {
  const [first = '', ...rest] = words.slice(start, end)
  const isGlued = gaps.slice(start + 1, end).every((gap) => gap === 0)
  if (!isGlued) return false
  const isNamed = /^\p{L}[\w.-]*$/u.test(first) && rest.join(' ') === `: ${VALUE}`
  return isNamed || [first, ...rest].join(' ') === `[ ${VALUE} ] : ${VALUE}`
}

function mayBeValue({ words }: Pattern, { start, end }: Span): boolean {
  return end - start <= MAX_WORDS && words.slice(start, end).every(isRealWord)
}
