import { expect, test } from 'vitest'

import { nativeFailures } from '../../../../src/rego/builtins/native/native-failures.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

function matches(...operands: readonly unknown[]): string {
  return outcomeOf(nativeFailures, 'glob.match', JSON.stringify(operands))
}

test('a pattern is not taken for another that reads alike beside its delimiters', () => {
  expect(matches('x', ['\0'], 'x')).toBe('true')
  // A NUL at the beginning ends the pattern.
  expect(matches('\0x', null, 'x')).toBe('false')
})

test.each([
  ['{?a,?a}', 'ba', 'true'],
  ['{?a,?a}', 'baa', 'false'],
  ['{a?b,a?b}', 'axb', 'true'],
  ['{a?,a?c}', 'axc', 'true'],
  ['{?a,?ba}', 'xba', 'true'],
  ['{ab,ab}{ab,ab}', 'abab', 'true'],
])('alternatives that begin and end alike are matched once: %s, %s', (pattern, text, outcome) => {
  expect(matches(pattern, [], text)).toBe(outcome)
})

test('alternatives without end are refused before they are compared with each other', () => {
  const alternatives = Array.from({ length: 20_000 }, (_, index) => `a*${index}`)
  expect(matches(`{${alternatives.join()}}`, ['/'], 'x')).toMatch(/^over budget: /)
})
