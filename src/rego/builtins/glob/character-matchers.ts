import { bytesOf, characterAt, charactersOf, widthAt } from './bytes.js'
import type { Bytes, Character } from './bytes.js'
import type { Matcher } from './matcher.js'

const REPLACEMENT = 0xfffd

/** `?`: any character but the separators. */
export interface Single extends Matcher {
  readonly kind: 'single'
  readonly separators: readonly Bytes[]
}

/** `[abc]` or `[!abc]`. */
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

/** `[a-c]` or `[!a-c]`: a broken character counts as U+FFFD. */
export function range(low: number, high: number, isNegated: boolean): Matcher {
  const isMember = ({ bytes }: Character): boolean => {
    const code = codeOf(bytes)
    return (code >= low && code <= high) !== isNegated
  }
  // OPA takes an empty text for U+FFFD here.
  const matchesNone = (low <= REPLACEMENT && REPLACEMENT <= high) !== isNegated
  return { kind: 'range', ...oneCharacter(isMember, matchesNone) }
}

/** What matches one character. `matchesNone` is what it says of an empty text. */
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

/** The characters of a text, as bytes each. */
export function listOf(text: string): Bytes[] {
  return Array.from(text, bytesOf)
}
