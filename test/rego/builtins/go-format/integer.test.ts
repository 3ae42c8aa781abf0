import { expect, test } from 'vitest'

import { outcomeOf } from '../../../support/builtin-outcome.js'
import { stringBuiltins } from '../../../../src/rego/builtins/strings.js'

/** Results of Go's fmt.Sprintf. */
test.each([
  ['%#x', 255, '0xff'],
  ['%#X', 255, '0XFF'],
  ['%#b', 5, '0b101'],
  ['%#o', 8, '010'],
  ['%O', 8, '0o10'],
  ['%#X', -255, '-0XFF'],
  ['%08.3d', 7, '     007'],
  ['%+d', 0, '+0'],
  ['%.0d', 0, ''],
  ['%c', 0, '\u0000'],
  ['%q', 0, "'\\x00'"],
  ['%q', 65, "'A'"],
  ['%q', 0x10ffff, "'\\U0010ffff'"],
  ['%q', 0x110000, "'\ufffd'"],
  ['%U', 0, 'U+0000'],
  ['%#U', 0x1f600, "U+1F600 '\u{1f600}'"],
])('%s of %d is %s', (format, value, text) => {
  expect(outcomeOf(stringBuiltins, 'sprintf', JSON.stringify([format, [value]]))).toBe(JSON.stringify(text))
})
