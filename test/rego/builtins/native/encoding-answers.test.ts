import { expect, test } from 'vitest'

import { nativeFailures } from '../../../../src/rego/builtins/native/native-failures.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

test.each([
  ['nullnull', 'null'],
  ['1 null', '1'],
  ['[1] null x', '[1]'],
  ['1 null,', '1'],
  ['1 nul', 'eval_builtin_error: unexpected EOF'],
  ['1 , null', "eval_builtin_error: invalid character ',' looking for beginning of value"],
  ['1 2 null', "eval_builtin_error: error: invalid character '2' after top-level value"],
])('json.unmarshal of %j gives %s, as in OPA, which ignores a null behind the value', (text, outcome) => {
  expect(outcomeOf(nativeFailures, 'json.unmarshal', JSON.stringify([text]))).toBe(outcome)
  expect(outcomeOf(nativeFailures, 'json.is_valid', JSON.stringify([text]))).toBe('false')
})
