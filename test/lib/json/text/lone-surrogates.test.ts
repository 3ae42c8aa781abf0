import { describe, expect, test } from 'vitest'
import { replaceLoneSurrogates } from '../../../../src/lib/json/text/lone-surrogates.js'

const cases: readonly (readonly [text: string, expected: string])[] = [
  ['"\\ud800"', '"\\ufffd"'],
  ['"\\udc00x"', '"\\ufffdx"'],
  ['"\\uDC00\\uD800"', '"\\ufffd\\ufffd"'],
  ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
  ['"\\uD83D\\ude00"', '"\\uD83D\\ude00"'],
  ['"\\ud83d\\ude00\\ude00"', '"\\ud83d\\ude00\\ufffd"'],
  ['"\\ud800\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"'],
  ['"\\ud800\\n"', '"\\ufffd\\n"'],
  ['"\\\\ud800"', '"\\\\ud800"'],
  ['"\\\\\\ud800"', '"\\\\\\ufffd"'],
  ['"\\\\ud83d\\ude00"', '"\\\\ud83d\\ufffd"'],
  ['"\\ud83d\\\\ude00"', '"\\ufffd\\\\ude00"'],
  ['"\\ud7ff\\ue000"', '"\\ud7ff\\ue000"'],
]

describe('escapes of half a surrogate pair', () => {
  test.each(cases)('%s becomes %s', (text, expected) => {
    expect(Buffer.from(replaceLoneSurrogates(Buffer.from(text))).toString()).toBe(expected)
  })

  test('text without any is given back as it is, and text with one is not changed in place', () => {
    const whole = Buffer.from('{"a":"\\u003c\\ud83d\\ude00"}')
    expect(replaceLoneSurrogates(whole)).toBe(whole)
    const broken = Buffer.from('"\\ud800"')
    replaceLoneSurrogates(broken)
    expect(broken.toString()).toBe('"\\ud800"')
  })
})
