import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../../../src/lib/json/edit/canonical.js'
import { goJsonString } from '../../../../src/lib/json/text/escape.js'

describe('a JSON string as Go writes it', () => {
  test.each([
    ['', '""'],
    ['plain', '"plain"'],
    ['a<b>&c', '"a\\u003cb\\u003e\\u0026c"'],
    ['\u2028\u2029', '"\\u2028\\u2029"'],
    ['\b\f\n\r\t"\\/', '"\\b\\f\\n\\r\\t\\"\\\\/"'],
    ['\u0000\u001f\u007f', '"\\u0000\\u001f\u007f"'],
    ['é中😀', '"é中😀"'],
    ['\ud83d!\ude00', '"\ufffd!\ufffd"'],
  ])('of %j is %s', (text, expected) => {
    expect(goJsonString(text)).toBe(expected)
  })

  test('is canonical for every character of the first two thousand and a few beyond', () => {
    const points = [
      ...Array.from({ length: 2_048 }, (_, point) => point),
      0x2027,
      0x2028,
      0xd7ff,
      0xffff,
      0x10ffff,
    ]
    const text = String.fromCodePoint(...points)
    const bytes = Buffer.from(JSON.stringify(text))
    expect(canonicalJson(bytes, 0, bytes.length).toString()).toBe(goJsonString(text))
  })
})
