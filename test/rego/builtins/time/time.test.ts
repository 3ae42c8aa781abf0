import { describe, expect, it } from 'vitest'
import { timeBuiltins } from '../../../../src/rego/builtins/time/time.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('time', () => {
  it.each(builtinCases('time'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(timeBuiltins, builtin, args)).toBe(outcome)
  })

  it('gives the time of the decision exactly', () => {
    expect(outcomeOf(timeBuiltins, 'time.now_ns', '[]', 1_785_999_999_999_999_999n)).toBe(
      '1785999999999999999',
    )
  })

  it.each([
    ['a long layout', 'time.parse_ns', ['2006-01-02 '.repeat(20_000), 'x']],
    ['a long run of spaces', 'time.parse_ns', ['2006 x', `2020${' '.repeat(200_000)}y`]],
    ['a long run of fraction zeros', 'time.format', [[0, 'UTC', `.${'0'.repeat(100)}1`.repeat(2000)]]],
    ['a long duration', 'time.parse_duration_ns', ['1ns'.repeat(50_000)]],
    ['a long number in a duration', 'time.parse_duration_ns', [`0.${'3'.repeat(200_000)}s`]],
  ])('answers %s', (_, builtin, args) => {
    expect(outcomeOf(timeBuiltins, builtin, JSON.stringify(args))).not.toBe('')
  })
})
