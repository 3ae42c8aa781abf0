import { expect, test } from 'vitest'

import { wrapText } from '../../../src/cli/output/wrap-text.js'

test('a text is broken between words, each line behind the indent', () => {
  expect(wrapText('one two three four', '  ', 10)).toBe('  one two\n  three\n  four\n')
})

test('a word that is too long has a line of its own', () => {
  expect(wrapText('a somewhat-long-word b', '', 8)).toBe('a\nsomewhat-long-word\nb\n')
})

test('a number keeps its unit', () => {
  expect(wrapText('changed by +49 % now', '', 15)).toBe('changed by\n+49 % now\n')
})

test('what would act on a terminal is replaced', () => {
  expect(wrapText('a\u001b[31m\nb\u202e', '')).toBe('a\ufffd[31m b\ufffd\n')
})
