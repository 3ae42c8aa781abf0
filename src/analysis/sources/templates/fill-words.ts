import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'
import type { Place } from './filling.js'

/** What a value of the scope may be made of where nothing can be escaped. */
export interface Words {
  /** As the end of a sentence. */
  readonly allows: string
  /** Of the whole value. */
  readonly pattern: RegExp
}

/** Placeholders that stand for more than a word: whole conditions, as the scopes of Kayenta are for some stores. */
export interface WholeConditions extends Words {
  /** Such a placeholder with what must be around it, which is looked at and not taken. */
  readonly place: RegExp
}

/** A query with each placeholder replaced by its value, which must be a word of the language. Raises `invalid` naming everything that is wrong. */
export function fillWords(template: string, scope: Scope, words: Words, whole?: WholeConditions): string {
  const filling = new Filling(scope)
  if (whole === undefined) return filling.finish(filling.fill(template, placeOf(words)))
  let from = 0
  const pieces: string[] = []
  for (const { 0: placeholder, index } of template.matchAll(whole.place)) {
    pieces.push(filling.fill(template.slice(from, index), placeOf(words)))
    pieces.push(filling.fill(placeholder, placeOf(whole)))
    from = index + placeholder.length
  }
  return filling.finish([...pieces, filling.fill(template.slice(from), placeOf(words))].join(''))
}

function placeOf({ allows, pattern }: Words): Place {
  return { allows, escape: (value) => (pattern.test(value) ? value : undefined) }
}
