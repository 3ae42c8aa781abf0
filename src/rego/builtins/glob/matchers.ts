import type { WorkMeter } from '../../metering/work-meter.js'
import { bytesOf, characterAt, charactersOf, countCharacters, indexOfAny, widthAt } from './bytes.js'
import type { Bytes, Character } from './bytes.js'
import { ANY_LENGTH } from './matcher.js'
import type { Found, Matcher } from './matcher.js'
import { startsOf } from './text-matchers.js'

/** `*`: any text without separators. */
export interface Any extends Matcher {
  readonly kind: 'any'
  readonly separators: readonly Bytes[]
}

export function any(separators: readonly Bytes[]): Any {
  return {
    kind: 'any',
    separators,
    length: ANY_LENGTH,
    matches: (text, meter) => indexOfAny(text, separators, meter) < 0,
    find: (text, meter) => {
      const end = indexOfAny(text, separators, meter)
      return { at: 0, lengths: startsOf(end < 0 ? text : text.slice(0, end), 0) }
    },
  }
}

/** `**`: any text. */
export const superMatcher: Matcher = {
  kind: 'super',
  length: ANY_LENGTH,
  matches: () => true,
  find: (text) => ({ at: 0, lengths: startsOf(text, 0) }),
}

/** The empty text, as between the commas of `{a,,b}`. */
export const nothing: Matcher = {
  kind: 'nothing',
  length: 0,
  matches: (text) => text === '',
  find: () => ({ at: 0, lengths: [0] }),
}

/** At least `count` characters. */
export function min(count: number): Matcher {
  return {
    kind: 'min',
    length: ANY_LENGTH,
    matches: (text) => countCharacters(text) >= count,
    find: (text) => {
      const lengths: number[] = []
      let seen = 0
      for (const { at, written } of charactersOf(text)) if (++seen >= count) lengths.push(at + written)
      return lengths.length === 0 ? undefined : { at: 0, lengths }
    },
  }
}

/** At most `count` characters. */
export function max(count: number): Matcher {
  return {
    kind: 'max',
    length: ANY_LENGTH,
    matches: (text) => countCharacters(text) <= count,
    find: (text) => {
      const lengths = [0]
      for (const { at, written } of charactersOf(text)) {
        if (lengths.length > count) break
        lengths.push(at + written)
      }
      return { at: 0, lengths }
    },
  }
}

const REPLACEMENT = 0xfffd

export interface Single extends Matcher {
  readonly kind: 'single'
  readonly separators: readonly Bytes[]
}

export interface List extends Matcher {
  readonly kind: 'list'
  readonly characters: readonly Bytes[]
  readonly isNegated: boolean
}

export function single(separators: readonly Bytes[]): Single {
  const apart = new Set(separators)
  const isMember = ({ bytes }: Character): boolean => bytes === '' || !apart.has(bytes)
  return { kind: 'single', separators, ...oneCharacter(isMember, true) }
}

export function list(characters: readonly Bytes[], isNegated: boolean): List {
  const members = new Set(characters)
  const isMember = ({ bytes }: Character): boolean => (bytes !== '' && members.has(bytes)) !== isNegated
  return { kind: 'list', characters, isNegated, ...oneCharacter(isMember, isNegated) }
}

/** `[a-c]` or `[!a-c]`. A broken character counts as U+FFFD. */
export function range(low: number, high: number, isNegated: boolean): Matcher {
  const isMember = ({ bytes }: Character): boolean => {
    const code = codeOf(bytes)
    return (code >= low && code <= high) !== isNegated
  }
  // OPA treats an empty text as U+FFFD here.
  const matchesNone = (low <= REPLACEMENT && REPLACEMENT <= high) !== isNegated
  return { kind: 'range', ...oneCharacter(isMember, matchesNone) }
}

/** A matcher of one character. `matchesNone` is its result for an empty text. */
function oneCharacter(
  isMember: (character: Character) => boolean,
  matchesNone: boolean,
): Pick<Matcher, 'length' | 'matches' | 'find'> {
  return {
    length: 1,
    matches: (text) => {
      if (text === '') return matchesNone
      return widthAt(text, 0) === text.length && isMember(characterAt(text, 0))
    },
    find: (text) => {
      for (const character of charactersOf(text)) {
        if (isMember(character)) return { at: character.at, lengths: [character.written] }
      }
      return undefined
    },
  }
}

function codeOf(bytes: Bytes): number {
  return Buffer.from(bytes, 'latin1').toString('utf8').codePointAt(0) ?? REPLACEMENT
}

/** Returns the characters of a text as bytes. */
export function listOf(text: string): Bytes[] {
  return Array.from(text, bytesOf)
}

/** Cost in evaluation steps per offset of a text, and per byte that is compared there. */
const TRY_STEPS = 6
const BYTE_STEPS = 0.3

export interface AnyOf extends Matcher {
  readonly kind: 'any-of'
  readonly matchers: readonly Matcher[]
}

/** A part of known length and the parts on its sides. */
export interface Tree extends Matcher {
  readonly kind: 'tree'
  readonly value: Matcher
  readonly left: Matcher | undefined
  readonly right: Matcher | undefined
}

export function anyOf(matchers: readonly Matcher[]): AnyOf {
  return {
    kind: 'any-of',
    matchers,
    length: commonLength(matchers),
    matches: (text, meter) => {
      meter.spend(matchers.length + text.length * BYTE_STEPS)
      return matchers.some((matcher) => matcher.matches(text, meter))
    },
    find: (text, meter) => {
      meter.spend(matchers.length * (TRY_STEPS + text.length * BYTE_STEPS))
      let best: Found | undefined
      for (const matcher of matchers) {
        const found = matcher.find(text, meter)
        if (found === undefined || (best !== undefined && found.at > best.at)) continue
        best = best?.at === found.at ? { at: best.at, lengths: merged(best.lengths, found.lengths) } : found
      }
      return best
    },
  }
}

/** Matches if all matchers match. */
export function everyOf(matchers: readonly Matcher[]): Matcher {
  return {
    kind: 'every-of',
    length: matchers.length === 0 ? 0 : ANY_LENGTH,
    matches: (text, meter) => matchers.every((matcher) => matcher.matches(text, meter)),
    find: (text, meter) => findEvery(matchers, text, meter),
  }
}

/** Each matcher searches from the match of the previous one, with OPA's offsets. */
function findEvery(matchers: readonly Matcher[], text: Bytes, meter: WorkMeter): Found | undefined {
  let at = 0
  let offset = 0
  let rest = text
  let lengths: readonly number[] = []
  for (const [index, matcher] of matchers.entries()) {
    meter.spend(TRY_STEPS + rest.length * BYTE_STEPS)
    const found = matcher.find(rest, meter)
    if (found === undefined) return undefined
    if (index === 0) lengths = found.lengths
    else {
      const delta = at - (found.at + offset)
      const others = new Set(found.lengths)
      lengths = lengths.map((length) => length + delta).filter((length) => others.has(length))
      if (lengths.length === 0) return undefined
    }
    at = found.at + offset
    rest = text.slice(at)
    offset += found.at
  }
  return { at, lengths }
}

/** Parts of known lengths, one after another. */
export function row(length: number, matchers: readonly Matcher[]): Matcher {
  const matchesAll = (text: Bytes, meter: WorkMeter): boolean => {
    meter.spend(TRY_STEPS * matchers.length)
    let at = 0
    for (const matcher of matchers) {
      const [seen, last] = step(text, at, matcher.length)
      // OPA only uses the first byte of the last character of a part, so no part may end with a
      // longer character.
      if (seen < matcher.length || !matcher.matches(text.slice(at, at + last + 1), meter)) return false
      at += last + 1
    }
    return true
  }
  return {
    kind: 'row',
    length,
    matches: (text, meter) => countCharacters(text) === length && matchesAll(text, meter),
    find: (text, meter) => {
      for (const { at } of charactersOf(text)) {
        if (text.length - at < length) break
        if (matchesAll(text.slice(at), meter)) return { at, lengths: [length] }
      }
      return undefined
    },
  }
}

/** Counts up to `count` characters (0: all); also returns the offset of the last one. */
function step(text: Bytes, from: number, count: number): [seen: number, last: number] {
  let seen = 0
  let last = 0
  for (let at = from; at < text.length; at += widthAt(text, at)) {
    last = at - from
    if (++seen === count) break
  }
  return [seen, last]
}

export function tree(value: Matcher, left: Matcher | undefined, right: Matcher | undefined): Tree {
  const lengths = [left?.length ?? 0, value.length, right?.length ?? 0]
  const length = lengths.includes(ANY_LENGTH) ? ANY_LENGTH : lengths.reduce((sum, one) => sum + one, 0)
  const made = { kind: 'tree', value, left, right, length } as const
  return { ...made, matches: (text, meter) => matchesTree(made, text, meter), find: () => undefined }
}

/** As in OPA, lengths in characters are used as lengths in bytes. */
function matchesTree(
  { value, left, right, length }: Pick<Tree, 'value' | 'left' | 'right' | 'length'>,
  text: Bytes,
  meter: WorkMeter,
): boolean {
  if (length > text.length) return false
  const limit = text.length - Math.max(0, right?.length ?? 0)
  let offset = Math.max(0, left?.length ?? 0)
  while (offset < limit) {
    meter.spend(TRY_STEPS + (text.length - offset) * BYTE_STEPS)
    const found = value.find(text.slice(offset, limit), meter)
    if (found === undefined) return false
    const at = offset + found.at
    if (matchesSide(left, text.slice(0, at), meter)) {
      for (let i = found.lengths.length - 1; i >= 0; i--) {
        meter.spend(TRY_STEPS)
        if (matchesSide(right, text.slice(at + (found.lengths[i] ?? 0)), meter)) return true
      }
    }
    offset = at + widthAt(text, at)
    if (at >= text.length) return false
  }
  return false
}

function matchesSide(matcher: Matcher | undefined, text: Bytes, meter: WorkMeter): boolean {
  if (matcher === undefined) return text === ''
  meter.spend(1 + text.length * BYTE_STEPS)
  return matcher.matches(text, meter)
}

/** Returns the common length; the first matcher with another length decides. */
function commonLength(matchers: readonly Matcher[]): number {
  let common = ANY_LENGTH
  for (const { length } of matchers) {
    if (common === ANY_LENGTH) common = length
    else if (length !== common) return ANY_LENGTH
  }
  return common
}

function merged(a: readonly number[], b: readonly number[]): number[] {
  return [...new Set([...a, ...b])].sort((x, y) => x - y)
}
