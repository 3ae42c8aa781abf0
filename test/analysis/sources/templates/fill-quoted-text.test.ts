import fc from 'fast-check'
import { expect, test } from 'vitest'

import { Filling } from '../../../../src/analysis/sources/templates/filling.js'
import {
  WITHOUT_WILDCARDS,
  fillQuotedText,
} from '../../../../src/analysis/sources/templates/fill-quoted-text.js'

function fill(template: string, value: string): string {
  const filling = new Filling({ value })
  return filling.finish(fillQuotedText(template, filling, WITHOUT_WILDCARDS))
}

test('a value between quotes is itself or is refused, and never ends them', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (value) => {
      let filled: string
      try {
        filled = fill('a="x${value}y" | b', value)
      } catch {
        expect(value).toMatch(/[*\p{Cc}]/u)
        return
      }
      const { quoted = '' } = /^a="(?<quoted>(?:\\.|[^"\\])*)" \| b$/s.exec(filled)?.groups ?? {}
      expect(quoted.replace(/\\(.)/gs, '$1')).toBe(`x${value}y`)
    }),
    { numRuns: 300 },
  )
})

test('a bare value is a word or is refused', () => {
  expect(fill('a=${value} b', 'shop_1')).toBe('a=shop_1 b')
  for (const value of ['a b', 'a|b', 'a"', '[x]', '`m`', '-']) {
    expect(() => fill('a=${value} b', value)).toThrow('put the placeholder between quotes')
  }
})

test('quotes that do not end are refused', () => {
  expect(() => fill('a="b ${value}', 'x')).toThrow('does not end')
})
