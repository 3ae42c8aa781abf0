import { expect, test } from 'vitest'

import { characterAt, countCharacters } from '../../../../src/rego/builtins/glob/bytes.js'
import { prefixSuffix } from '../../../../src/rego/builtins/glob/text-matchers.js'
import { generousMeter } from '../../../support/generous-meter.js'

/** Each byte of a text as one character, as the matchers of globs take it. */
const bytesOf = (text: string): string => Buffer.from(text).toString('latin1')

test.each([
  ['a', 0, { width: 1, written: 1 }],
  ['\u00e4', 0, { width: 2, written: 2 }],
  ['\u20ac', 0, { width: 3, written: 3 }],
  ['\u{1f600}', 0, { width: 4, written: 4 }],
])('the character of %j at %d is complete', (text, at, character) => {
  expect(characterAt(bytesOf(text), at)).toMatchObject(character)
  expect(countCharacters(bytesOf(text))).toBe(1)
})

test.each(['\x80', '\xbf', '\xc3', '\xe2\x82', '\xf0\x9f\x98'])(
  'what was cut within a character is written as a replacement, a byte each: %j',
  (text) => {
    expect(characterAt(text, 0)).toMatchObject({ width: 1, written: 3, bytes: '' })
    expect(countCharacters(text)).toBe(text.length)
  },
)

test('a pattern between literals is found in each of its lengths', () => {
  const matcher = prefixSuffix('a', 'b')
  expect(matcher.find('xaXbYbZ', generousMeter())).toEqual({ at: 1, lengths: [3, 5] })
  expect(matcher.find('xab', generousMeter())).toEqual({ at: 1, lengths: [2] })
  expect(matcher.find('xaX', generousMeter())).toBeUndefined()
  expect(prefixSuffix('a', '').find('xaXb', generousMeter())).toEqual({ at: 1, lengths: [3] })
})
