import { expect, test } from 'vitest'
import fc from 'fast-check'

import { decodeString } from '../../../../src/lib/json/scan/decode-string.js'

const LONG = 'x'.repeat(5000)

function decoded(literal: Uint8Array): Buffer {
  return Buffer.from(decodeString(literal, 0, literal.length))
}

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom(
      '\\"',
      '\\\\',
      '\\/',
      '\\b',
      '\\f',
      '\\n',
      '\\r',
      '\\t',
      'plain text',
      '\u00e9',
      '\u20ac',
      '😀',
    ),
    fc.integer({ min: 0, max: 0xffff }).map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`),
    fc.constantFrom('\\ud83d\\ude00', '\\uD83D', '\\uDE00'),
  ),
  { maxLength: 30 },
)

test('short and long strings are decoded like JSON.parse', () => {
  fc.assert(
    fc.property(pieces, fc.constantFrom('', LONG), fc.constantFrom('', LONG), (between, before, after) => {
      const literal = `"${before}${between.join('')}${after}"`
      const expected = Buffer.from(JSON.parse(literal) as string)
      expect(decoded(Buffer.from(literal)).equals(expected)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('each byte that is not UTF-8 becomes one replacement character, in texts of every length', () => {
  for (const padding of ['', LONG]) {
    const literal = Buffer.concat([
      Buffer.from(`"${padding}\\n`),
      Buffer.from([0xff, 0xe2, 0x82]),
      Buffer.from('é"'),
    ])
    expect(decoded(literal).toString()).toBe(`${padding}\n\ufffd\ufffd\ufffdé`)
  }
})

test('a long text of nothing but bytes that are not UTF-8 has the room that it takes', () => {
  const literal = Buffer.concat([Buffer.from('"'), Buffer.alloc(5000, 0xff), Buffer.from('"')])
  expect(decoded(literal).toString()).toBe('\ufffd'.repeat(5000))
})
