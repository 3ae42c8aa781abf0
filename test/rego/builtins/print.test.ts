import { expect, test } from 'vitest'

import { stringBuiltins } from '../../../src/rego/builtins/strings.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { generousMeter } from '../../support/generous-meter.js'

/** Returns the lines that a call with these operands prints. */
function printed(operands: string): string[] {
  const lines: string[] = []
  const context = {
    nowNs: 0n,
    memo: new Map<string, never>(),
    meter: generousMeter(),
    print: (line: string) => void lines.push(line),
  }
  expect(stringBuiltins['internal.print']?.([parseRegoText(operands)], context)).toBe(true)
  return lines
}

test.each([
  ['[{"a b"}, {1.50}, {null}]', ['a b 1.50 null']],
  ['[{"x"}, set(), {{"a": {1, "b"}}}]', ['x <undefined> {"a": {1, "b"}}']],
  ['[{1, 2}, {"a", "b"}]', ['1 a', '1 b', '2 a', '2 b']],
  ['[]', ['']],
])('%s is printed as %j', (operands, lines) => {
  expect(printed(operands)).toEqual(lines)
})

test('output without a receiver is discarded', () => {
  const context = { nowNs: 0n, memo: new Map<string, never>(), meter: generousMeter() }
  expect(stringBuiltins['internal.print']?.([parseRegoText('[{1}]')], context)).toBe(true)
})
