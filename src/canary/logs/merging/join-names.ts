import { group } from 'd3-array'

import { isMessageField } from '../masking/mask-quoted.js'
import { VALUE } from '../masking/scan-words.js'
import { coverage, firstRow, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { countMeaningfulWords, isRealWord, mayBeCause } from './word-kind.js'

/** Different names that show a place to be a value; fewer where quotes say that it is one text. */
const MIN_NAMES = 6
const MIN_QUOTED = 3
const MIN_SHARED_WORDS = 3
const MAX_WORDS = 6
/** Longer lines have too much in them that may be a name. */
const MAX_PLACES = 100

/** Stands for a name that may vary, which is another place than one that varies already. */
const NAME = ''

/** Words that may be one name: all between two quotes, or all capitalised ones in a row. */
interface Span {
  readonly start: number
  readonly end: number
  readonly isQuoted: boolean
}

interface Named {
  readonly pattern: Pattern
  readonly spans: readonly Span[]
  readonly frame: string
}

/**
 * Unites patterns that differ in one name of any number of words: `The Print Spooler service stopped` and `The Windows Time service stopped`,
 * `option 'max server memory' changed`. Names of one word are told by `isVariable`.
 */
export function joinNames(patterns: readonly Pattern[]): readonly Pattern[] {
  const named = patterns.flatMap(namedOf)
  const taken = new Set<Pattern>()
  const united = [...group(named, ({ frame }) => frame).values()].flatMap((family) => {
    const one = uniteNames(family)
    if (one === undefined) return []
    for (const { pattern } of family) taken.add(pattern)
    return [one]
  })
  return [...patterns.filter((pattern) => !taken.has(pattern)), ...united]
}

function namedOf(pattern: Pattern): Named[] {
  if (pattern.isFixed || pattern.words.length > MAX_PLACES) return []
  const spans = spansOf(pattern.words)
  if (spans.length === 0) return []
  const frame: string[] = []
  let at = 0
  for (const { start, end } of spans) {
    frame.push(...pattern.words.slice(at, start), NAME)
    at = end
  }
  frame.push(...pattern.words.slice(at))
  return [{ pattern, spans, frame: wordsKey(frame) }]
}

function spansOf(words: readonly string[]): readonly Span[] {
  const spans: Span[] = []
  // The first word of a line is capitalised whatever it is.
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? ''
    const isQuote = word === '"' || word === "'"
    const end = isQuote ? words.indexOf(word, at + 1) : endOfRun(words, at)
    const start = isQuote ? at + 1 : at
    if (end <= start) continue
    const inside = words.slice(start, end)
    // What holds a value beside words is a message itself: `"GET <*> HTTP/<*>"`.
    if (inside.length <= MAX_WORDS && inside.some(isRealWord) && !inside.includes(VALUE))
      spans.push({ start, end, isQuoted: isQuote })
    at = isQuote ? end : end - 1
  }
  return spans
}

function endOfRun(words: readonly string[], from: number): number {
  let at = from
  while (/^\p{Lu}/u.test(words[at] ?? '')) at += 1
  return at
}

function uniteNames(family: readonly Named[]): Pattern | undefined {
  const ordered = family.toSorted((a, b) => firstRow(a.pattern) - firstRow(b.pattern))
  const [first] = ordered
  if (first === undefined || family.length < MIN_QUOTED) return undefined
  const textsAt = first.spans.map((_, n) => new Set(ordered.map((one) => textOf(one, n))))
  const varying = [...textsAt.keys()].filter((n) => (textsAt[n]?.size ?? 0) > 1)
  const [place] = varying
  const span = place === undefined ? undefined : first.spans[place]
  if (varying.length !== 1 || place === undefined || span === undefined) return undefined
  const texts = [...(textsAt[place] ?? [])]
  if (texts.length < (span.isQuoted ? MIN_QUOTED : MIN_NAMES)) return undefined
  const hasLonger = ordered.some(({ spans }) => lengthOf(spans[place]) > 1)
  return hasLonger && isName(first.pattern.words, span) ? withValue(ordered, span) : undefined
}

function isName(words: readonly string[], { start, end, isQuoted }: Span): boolean {
  const shared = words.toSpliced(start, end - start)
  if (countMeaningfulWords(shared) < MIN_SHARED_WORDS || mayBeCause(words, start)) return false
  const joint = isQuoted ? start - 2 : start - 1
  const isField = words[joint] === '=' || words[joint] === ':'
  return !isField || !isMessageField(words[joint - 1] ?? '')
}

function withValue(ordered: readonly Named[], { start, end }: Span): Pattern {
  const [{ pattern }] = ordered as [Named]
  return {
    ...pattern,
    words: pattern.words.toSpliced(start, end - start, VALUE),
    gaps: pattern.gaps.toSpliced(start + 1, end - start - 1),
    ...coverage(ordered.map((one) => one.pattern)),
  }
}

function textOf({ pattern, spans }: Named, n: number): string {
  const { start = 0, end = 0 } = spans[n] ?? {}
  return wordsKey(pattern.words.slice(start, end))
}

function lengthOf(span: Span | undefined): number {
  return span === undefined ? 0 : span.end - span.start
}
