import { expect, test } from 'vitest'

import { nativeFailures } from '../../../src/rego/builtins/native/native-failures.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

test.each(builtinCases('native-failures'))('%s%s fails with %s, as in OPA', (builtin, args, outcome) => {
  expect(outcomeOf(nativeFailures, builtin, args)).toBe(outcome)
})
