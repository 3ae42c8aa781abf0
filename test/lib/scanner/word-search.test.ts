import fc from 'fast-check'
import { expect, it } from 'vitest'

import { WordSearch } from '../../../src/lib/scanner/word-search.js'
import type { SearchedWord } from '../../../src/lib/scanner/word-leads.js'

const WORDS: readonly SearchedWord[] = [
  { word: 'key', isAnyCase: true },
  { word: 'eyJ', isAnyCase: false },
  { word: 'keyed', isAnyCase: true },
  { word: 'aaaa', isAnyCase: true },
  { word: '"ey', isAnyCase: false },
  { word: 'A_B-', isAnyCase: false },
]

/** Where the words stand, one look at each place. */
function found(text: string): string[] {
  return WORDS.flatMap((word) => {
    const [where, what] = word.isAnyCase ? [text.toLowerCase(), word.word.toLowerCase()] : [text, word.word]
    return Array.from(text, (_, at) => at).flatMap((at) =>
      where.startsWith(what, at) ? [`${what}@${at}`] : [],
    )
  }).sort()
}

it('finds what a look at each place finds, wherever in memory the text stands', () => {
  const search = new WordSearch(WORDS)
  const part = fc.constantFrom(
    ...WORDS.map(({ word }) => word),
    'k',
    'e',
    'y',
    'K',
    'EY',
    'J',
    'a',
    'A',
    '_',
    '"',
  )
  const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, text, fc.boolean(), (before, searched, behind, endsMemory) => {
      const memory = new Uint8Array(Buffer.from(endsMemory ? before + searched : before + searched + behind))
      const words: string[] = []
      search.find(
        memory.subarray(before.length, before.length + searched.length),
        ({ word, isAnyCase }, at) => words.push(`${isAnyCase ? word.toLowerCase() : word}@${at}`),
      )
      expect(words.sort()).toEqual(found(searched))
    }),
    { numRuns: 2000 },
  )
})
