import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { parseSubject } from '../../../src/config/values/certificate-subject.js'

const entries = (text: string): unknown => {
  const parts = parseSubject(text)
  return parts && [...parts]
}

describe('a subject of a certificate', () => {
  test.each([
    ['CN=echo', [['CN', ['echo']]]],
    ['CN = echo, O=Example', undefined],
    [
      'CN=echo, O=Example Inc.',
      [
        ['CN', ['echo']],
        ['O', ['Example Inc.']],
      ],
    ],
    ['OU=a,OU=b', [['OU', ['a', 'b']]]],
    [
      String.raw`O=Example\, Inc.,CN=a`,
      [
        ['O', ['Example, Inc.']],
        ['CN', ['a']],
      ],
    ],
    [
      String.raw`O=a\\,CN=b`,
      [
        ['O', [String.raw`a${'\\'}`]],
        ['CN', ['b']],
      ],
    ],
    ['', undefined],
    ['echo', undefined],
    ['CN=', undefined],
    ['CN=a,', undefined],
  ])('%j is read as %j', (text, parts) => {
    expect(entries(text)).toEqual(parts)
  })

  test('has every value back that was written with its commas and backslashes escaped', () => {
    const value = fc.string({ minLength: 1 }).filter((text) => text.trim() === text)
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom('CN', 'O', 'OU', 'C'), { minLength: 1 }),
        value,
        (types, held) => {
          const escaped = held.replace(/[\\,]/g, String.raw`\$&`)
          const text = types.map((type) => `${type}=${escaped}`).join(', ')
          expect(entries(text)).toEqual(types.map((type) => [type, [held]]))
        },
      ),
    )
  })
})
