import { describe, expect, test } from 'vitest'
import { scanValue } from '../../../../src/lib/json/scan/scan-value.js'
import { makeRandom, randomJson, randomSpacing } from '../random-json.js'

const DEEPEST = 10_000

function accepts(text: string): boolean {
  const bytes = Buffer.from(text, 'latin1')
  try {
    return bytes.subarray(scanValue(bytes, 0)).toString().trim() === ''
  } catch {
    return false
  }
}

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('scanning one JSON value', () => {
  test.each([
    ['  {"a":[1,2]} x', 13],
    ['7,', 1],
    ['-0.5e+10]', 8],
    ['"a\\"b"c', 6],
    ['nullnull', 4],
    ['[]]', 2],
    ['{}', 2],
  ])('of %s ends at offset %d', (text, end) => {
    expect(scanValue(Buffer.from(text), 0)).toBe(end)
  })

  test('starts at the offset given', () => {
    expect(scanValue(Buffer.from('{"a": true}'), 5)).toBe(10)
  })

  test.each(['', ' \n'])('refuses blank text %j with EOF', (text) => {
    expect(() => scanValue(Buffer.from(text), 0)).toThrow(/^EOF$/)
  })

  test('accepts ten thousand levels and no more', () => {
    const deepest = '['.repeat(DEEPEST) + ']'.repeat(DEEPEST)
    expect(scanValue(Buffer.from(deepest), 0)).toBe(2 * DEEPEST)
    expect(() => scanValue(Buffer.from(`[${deepest}]`), 0)).toThrow(
      "invalid character '[' exceeded max depth",
    )
    expect(() => scanValue(Buffer.from(deepest), 0, 1)).toThrow('exceeded max depth')
  })

  test('reports an error at any offset in a long string', () => {
    for (let length = 0; length < 70; length++) {
      const body = 'x'.repeat(length)
      expect(scanValue(Buffer.from(`"${body}"`), 0)).toBe(length + 2)
      expect(scanValue(Buffer.from(`"${body}\\""`), 0)).toBe(length + 4)
      expect(scanValue(Buffer.from(`"${body}\u00e9\u4e2d"`), 0)).toBe(length + 7)
      expect(() => scanValue(Buffer.from(`"${body}\u001f${body}"`), 0)).toThrow("'\\x1f' in string literal")
      expect(() => scanValue(Buffer.from(`"${body}`), 0)).toThrow('unexpected EOF')
    }
  })
})

describe('random documents', () => {
  const random = makeRandom(20_240_611)
  const documents = Array.from({ length: 400 }, () => randomSpacing(random, randomJson(random, 4)))

  test('are accepted', () => {
    for (const text of documents) expect(accepts(text), text).toBe(true)
  })

  test('with one byte changed are accepted exactly when JSON.parse accepts them', () => {
    const bytes = '{}[],:"\\0123456789-+.eEtrufalsn \n\t\u0001/bx'
    for (const text of documents) {
      for (let round = 0; round < 12; round++) {
        const at = random(text.length)
        const inserted = bytes.charAt(random(bytes.length))
        const mutated = text.slice(0, at) + inserted + text.slice(at + random(2))
        expect(accepts(mutated), mutated).toBe(parses(mutated))
      }
    }
  })

  test('cut short are refused with the end of the text named', () => {
    for (const text of documents) {
      const cut = text.trimEnd().slice(0, -1)
      if (!parses(cut)) expect(() => scanValue(Buffer.from(cut), 0), cut).toThrow(/EOF$/)
    }
  })
})
