import { expect, test } from 'vitest'

import { printBuiltins } from '../../../src/rego/builtins/print.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import { generousMeter } from '../../support/generous-meter.js'

/** The output of a call with these operands. */
function printed(operands: string): string[] {
  const lines: string[] = []
  const context = {
    nowNs: 0n,
    memo: new Map<string, never>(),
    meter: generousMeter(),
    print: (line: string) => void lines.push(line),
  }
  expect(printBuiltins['internal.print']?.([parseRegoText(operands)], context)).toBe(true)
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

test('nothing is printed where nobody reads it', () => {
  const context = { nowNs: 0n, memo: new Map<string, never>(), meter: generousMeter() }
  expect(printBuiltins['internal.print']?.([parseRegoText('[{1}]')], context)).toBe(true)
})
