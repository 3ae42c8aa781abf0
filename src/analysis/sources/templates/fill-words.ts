import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'

/** What a value of the scope may be made of where nothing can be escaped. */
export interface Words {
  /** As the end of a sentence. */
  readonly allows: string
  /** Of the whole value. */
  readonly pattern: RegExp
}

/** A query with each placeholder replaced by its value, which must be a word of the language. Raises `invalid` naming everything that is wrong. */
export function fillWords(template: string, scope: Scope, { allows, pattern }: Words): string {
  const filling = new Filling(scope)
  const escape = (value: string): string | undefined => (pattern.test(value) ? value : undefined)
  return filling.finish(filling.fill(template, { allows, escape }))
}
