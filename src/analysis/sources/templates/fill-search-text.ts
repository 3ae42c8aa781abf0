import type { Filling } from './filling.js'
import { LUCENE_PHRASE, LUCENE_WORD, PLAIN_WORD } from './escape-contexts.js'

const PIECE =
  /(?<phrase>"(?:\\[\s\S]|[^"\\])*"?)|(?<expression>\/(?:\\[\s\S]|[^/\\])*\/)|(?<word>(?:\\[\s\S]|[^"/\\])+|[\s\S])/g

/**
 * A part of a template in the syntax of `query_string`, with each placeholder replaced by its
 * value, escaped so that it is a word or a part of a phrase and never an operator.
 */
export function fillSearchText(template: string, filling: Filling): string {
  const pieces = [...template.matchAll(PIECE)].map(({ groups = {} }) => {
    const { phrase, expression, word = '' } = groups
    if (expression !== undefined) return filling.fill(expression, PLAIN_WORD)
    if (phrase === undefined) return filling.fill(word, LUCENE_WORD)
    if (phrase.length === 1 || !phrase.endsWith('"')) {
      filling.refuse(`the phrase that starts with ${phrase.slice(0, 20)} does not end`)
    }
    return filling.fill(phrase, LUCENE_PHRASE)
  })
  return pieces.join('')
}
