import { charactersOf, countCharacters, indexOfAny, lastIndexOfAny } from './bytes.js'
import type { Bytes } from './bytes.js'
import { ANY_LENGTH } from './matcher.js'
import type { Matcher } from './matcher.js'

export interface Text extends Matcher {
  readonly kind: 'text'
  readonly text: Bytes
}

export interface Prefix extends Matcher {
  readonly kind: 'prefix'
  readonly prefix: Bytes
}

export interface Suffix extends Matcher {
  readonly kind: 'suffix'
  readonly suffix: Bytes
}

export function text(literal: Bytes): Text {
  const lengths = [literal.length]
  return {
    kind: 'text',
    text: literal,
    length: countCharacters(literal),
    matches: (text) => text === literal,
    find: (text) => {
      const at = text.indexOf(literal)
      return at < 0 ? undefined : { at, lengths }
    },
  }
}

/** `literal**` */
export function prefix(literal: Bytes): Prefix {
  return {
    kind: 'prefix',
    prefix: literal,
    length: ANY_LENGTH,
    matches: (text) => text.startsWith(literal),
    find: (text) => {
      const at = text.indexOf(literal)
      return at < 0 ? undefined : { at, lengths: endsOf(text.slice(at + literal.length), literal.length) }
    },
  }
}

/** `literal*` */
export function prefixAny(literal: Bytes, separators: readonly Bytes[]): Matcher {
  return {
    kind: 'prefix-any',
    length: ANY_LENGTH,
    matches: (text, meter) =>
      text.startsWith(literal) && indexOfAny(text.slice(literal.length), separators, meter) < 0,
    find: (text, meter) => {
      const at = text.indexOf(literal)
      if (at < 0) return undefined
      const rest = text.slice(at + literal.length)
      const end = indexOfAny(rest, separators, meter)
      return { at, lengths: endsOf(end < 0 ? rest : rest.slice(0, end), literal.length) }
    },
  }
}

/** `**literal` */
export function suffix(literal: Bytes): Suffix {
  return {
    kind: 'suffix',
    suffix: literal,
    length: ANY_LENGTH,
    matches: (text) => text.endsWith(literal),
    find: (text) => {
      const at = text.indexOf(literal)
      return at < 0 ? undefined : { at: 0, lengths: [at + literal.length] }
    },
  }
}

/** `*literal` */
export function suffixAny(literal: Bytes, separators: readonly Bytes[]): Matcher {
  return {
    kind: 'suffix-any',
    length: ANY_LENGTH,
    matches: (text, meter) =>
      text.endsWith(literal) &&
      indexOfAny(text.slice(0, text.length - literal.length), separators, meter) < 0,
    find: (text, meter) => {
      const end = text.indexOf(literal)
      if (end < 0) return undefined
      const at = lastIndexOfAny(text.slice(0, end), separators, meter) + 1
      return { at, lengths: [end + literal.length - at] }
    },
  }
}

/** `first**last`. As in OPA, the literals may overlap. */
export function prefixSuffix(first: Bytes, last: Bytes): Matcher {
  return {
    kind: 'prefix-suffix',
    length: ANY_LENGTH,
    matches: (text) => text.startsWith(first) && text.endsWith(last),
    find: (text) => {
      const at = text.indexOf(first)
      if (at < 0) return undefined
      if (last === '') return { at, lengths: [text.length - at] }
      const lengths: number[] = []
      let rest = text.slice(at)
      for (let end = rest.lastIndexOf(last); end >= 0; end = rest.lastIndexOf(last)) {
        lengths.push(end + last.length)
        rest = rest.slice(0, end)
      }
      return lengths.length === 0 ? undefined : { at, lengths: lengths.reverse() }
    },
  }
}

/** `**literal**`, or if negated, a text without the literal. */
export function contains(literal: Bytes, isNegated: boolean): Matcher {
  return {
    kind: 'contains',
    length: ANY_LENGTH,
    matches: (text) => text.includes(literal) !== isNegated,
    find: (text) => {
      const at = text.indexOf(literal)
      if (isNegated) return { at: 0, lengths: startsOf(at < 0 ? text : text.slice(0, at), 0) }
      if (at < 0) return undefined
      const end = at + literal.length
      return { at: 0, lengths: text.length <= end ? [end] : startsOf(text.slice(end), end) }
    },
  }
}

/** Returns the offset of each character and the end, plus `offset`. */
export function startsOf(text: Bytes, offset: number): number[] {
  const offsets: number[] = []
  for (const { at } of charactersOf(text)) offsets.push(offset + at)
  offsets.push(offset + text.length)
  return offsets
}

/** Returns `offset`, and the end of each character as Go writes it. */
function endsOf(text: Bytes, offset: number): number[] {
  const offsets = [offset]
  for (const { at, written } of charactersOf(text)) offsets.push(offset + at + written)
  return offsets
}
