import { expect, test } from 'vitest'

import { searchableText, searchTerms } from '../../../src/store/trail/searchable-text.js'

test.each([
  ['Release', [['Release', false]]],
  [
    'roll-out 42',
    [
      ['roll', false],
      ['out', false],
      ['42', false],
    ],
  ],
  [
    'roll out*',
    [
      ['roll', false],
      ['out', true],
    ],
  ],
  [
    'roll* out',
    [
      ['roll', false],
      ['out', false],
    ],
  ],
  ['*', []],
  ['cafe\u0301', [['caf\u00e9', false]]],
] as const)('who asks for %j looks for %j', (asked, terms) => {
  expect(searchTerms(asked)).toEqual(terms.map(([word, isPrefix]) => ({ word, isPrefix })))
})

test('the letters of escapes of white space are part of no word', () => {
  expect(searchableText(Buffer.from('{"a":"one\\ntwo\\tthree"}'))).toBe('{"a":"one two three"}')
})
