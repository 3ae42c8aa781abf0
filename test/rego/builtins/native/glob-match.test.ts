import { expect, test } from 'vitest'

import { nativeFailures } from '../../../../src/rego/builtins/native/native-failures.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

function matches(...operands: readonly unknown[]): string {
  return outcomeOf(nativeFailures, 'glob.match', JSON.stringify(operands))
}

test('a pattern is not confused with another whose text is the same including delimiters', () => {
  expect(matches('x', ['\0'], 'x')).toBe('true')
  // A leading NUL ends the pattern.
  expect(matches('\0x', null, 'x')).toBe('false')
})

test.each([
  ['{?a,?a}', 'ba', 'true'],
  ['{?a,?a}', 'baa', 'false'],
  ['{a?b,a?b}', 'axb', 'true'],
  ['{a?,a?c}', 'axc', 'true'],
  ['{?a,?ba}', 'xba', 'true'],
  ['{ab,ab}{ab,ab}', 'abab', 'true'],
])('common ends of alternatives are matched once: %s, %s', (pattern, text, outcome) => {
  expect(matches(pattern, [], text)).toBe(outcome)
})

test('too many alternatives are refused before they are compared', () => {
  const alternatives = Array.from({ length: 20_000 }, (_, index) => `a*${index}`)
  expect(matches(`{${alternatives.join()}}`, ['/'], 'x')).toMatch(/^over budget: /)
})
