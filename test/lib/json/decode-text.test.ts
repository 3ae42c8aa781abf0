import { expect, test } from 'vitest'

import { toUtf8 } from '../../../src/lib/json/scan/decode-string.js'

test('UTF-8 comes back as the very same bytes', () => {
  const bytes = Buffer.from('{"name":"Zoë 中"}')
  expect(toUtf8(bytes)).toBe(bytes)
})

test('text that is not UTF-8 is read as ISO-8859-1 and keeps its control characters', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
  const expected = String.fromCodePoint(...bytes)
  expect(Buffer.from(toUtf8(bytes)).toString()).toBe(expected)
})
