import { expect, test } from 'vitest'

import { withoutColours } from '../../../src/lib/text/shown-text.js'

test.each([
  ['\u001b[31mERROR\u001b[0m order 5 failed', 'ERROR order 5 failed'],
  ['\u001b[1;38;5;196mWARN\u001b[39;49m \u001b[2Kslow', 'WARN slow'],
  ['[31m is text without the escape', '[31m is text without the escape'],
])('takes the colours from %j', (line, text) => {
  expect(withoutColours(line)).toBe(text)
})
