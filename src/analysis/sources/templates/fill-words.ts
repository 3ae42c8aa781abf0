import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { EscapeContext } from './filling.js'

/** The characters of a scope's value in a language without escapes. */
export interface Words {
  /** As the end of a sentence. */
  readonly allows: string
  /** Pattern of the whole value. */
  readonly pattern: RegExp
}

/**
 * Placeholders for whole conditions instead of words, such as the scopes of Kayenta for some
 * stores.
 */
export interface WholeConditions extends Words {
  /** Such a placeholder with its required surroundings as lookarounds. */
  readonly place: RegExp
}

/**
 * A query with each placeholder replaced by its value, which must be a word of the language. Raises
 * `invalid` with all problems.
 */
export function fillWords(template: string, scope: Scope, words: Words, whole?: WholeConditions): string {
  const filling = new Filling(scope)
  if (whole === undefined) return filling.finish(filling.fill(template, contextOf(words)))
  let from = 0
  const pieces: string[] = []
  for (const { 0: placeholder, index } of template.matchAll(whole.place)) {
    pieces.push(filling.fill(template.slice(from, index), contextOf(words)))
    pieces.push(filling.fill(placeholder, contextOf(whole)))
    from = index + placeholder.length
  }
  return filling.finish([...pieces, filling.fill(template.slice(from), contextOf(words))].join(''))
}

function contextOf({ allows, pattern }: Words): EscapeContext {
  return { allows, escape: (value) => (pattern.test(value) ? value : undefined) }
}
