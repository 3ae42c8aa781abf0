import { expect, test } from 'vitest'

import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { printRegoText } from '../../../src/rego/values/print-text.js'
import { RegoNumber, RegoObject } from '../../../src/rego/values/value.js'

test('of keys that Rego holds equal the last one stays, and entries stand in Rego order', () => {
  const keys = [RegoNumber.of(1), 'b', new RegoNumber('1.0'), 'a', null, 'b']
  const object = new RegoObject(keys.map((key, place) => [key, RegoNumber.of(place)]))
  expect(printRegoText(object)).toBe('{null:4,1.0:2,"a":3,"b":5}')
  expect(object.get(RegoNumber.of(1))).toEqual(RegoNumber.of(2))
  expect([object.has('b'), object.has('c'), object.size]).toEqual([true, false, 4])
})

test('texts are read with and without escapes, and refused with a raw line end or without an end', () => {
  expect(parseRegoText('["plain", "\\"\\u00e9\\n", "é", ""]')).toEqual(['plain', '"é\n', 'é', ''])
  for (const text of ['"a\nb"', '"a', '"a\\"']) expect(() => parseRegoText(text)).toThrow('not a Rego value')
})
