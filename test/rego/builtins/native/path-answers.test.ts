import { expect, test } from 'vitest'

import { nativeFailures } from '../../../../src/rego/builtins/native/native-failures.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

test.each([
  ['json.filter', '{"a7":"x"}'],
  ['json.remove', '{"b":"y"}'],
])('%s handles a hundred thousand paths in linear time', (builtin, expected) => {
  const paths = ['', ...Array.from({ length: 100_000 }, (_, index) => `/a${index}`)]
  const operands = JSON.stringify([{ a7: 'x', b: 'y' }, paths])
  expect(outcomeOf(nativeFailures, builtin, operands)).toBe(expected)
})
