import { expect, test } from 'vitest'

import { readHeaderText, writeHeaderText } from '../../../src/lib/text/header-text.js'

test.each(['ana', 'Zo\u00eb', '\u0141ukasz', '\u5c71\u7530', '\u{1f600}'])(
  'reads %j as it was written',
  (name) => {
    expect(readHeaderText(writeHeaderText(name))).toBe(name)
  },
)

test('reads malformed UTF-8 as ISO-8859-1', () => {
  expect(readHeaderText('Zo\u00eb')).toBe('Zo\u00eb')
})
