import { expect, test } from 'vitest'

import { escapeControls, printable, withoutColours } from '../../../src/lib/text/shown-text.js'

test.each([
  ['\u001b[31mERROR\u001b[0m order 5 failed', 'ERROR order 5 failed'],
  ['\u001b[1;38;5;196mWARN\u001b[39;49m \u001b[2Kslow', 'WARN slow'],
  ['[31m is text without the escape', '[31m is text without the escape'],
])('takes the colours from %j', (line, text) => {
  expect(withoutColours(line)).toBe(text)
})

test.each([
  '\u0000',
  '\u0007',
  '\b',
  '\r',
  '\u001b',
  '\u007f',
  '\u0085',
  '\u009b',
  '\u009d',
  '\u061c',
  '\u200e',
  '\u200f',
  '\u2028',
  '\u202e',
  '\u2066',
  '\u2069',
])('neither a terminal nor a log is given %j as it is', (character) => {
  expect(printable(`a${character}b`)).toBe('a\ufffdb')
  const escaped = escapeControls(JSON.stringify(`a${character}b`))
  expect(escaped).toMatch(/^[ -~]*$/)
  expect(JSON.parse(escaped)).toBe(`a${character}b`)
})

test('lines, tabs and other scripts are shown as they are', () => {
  const text = 'a\n\tæøå 漢字 עברית 👩‍🚀'
  expect(printable(text)).toBe(text)
  expect(escapeControls(text)).toBe(text)
})
