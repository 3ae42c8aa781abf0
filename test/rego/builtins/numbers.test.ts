import { describe, expect, it } from 'vitest'
import { numberBuiltins } from '../../../src/rego/builtins/cast.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('ranges of numbers with a step', () => {
  it.each(builtinCases('numbers'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(numberBuiltins, builtin, args)).toBe(outcome)
  })

  it('counts integers past 2^53 exactly', () => {
    const args = '[123456789012345678901, 123456789012345678903, 1]'
    expect(outcomeOf(numberBuiltins, 'numbers.range_step', args)).toBe(
      '[123456789012345678901,123456789012345678902,123456789012345678903]',
    )
  })

  it('ends the evaluation over a range that would not end in reasonable memory', () => {
    expect(outcomeOf(numberBuiltins, 'numbers.range_step', '[0, 1e18, 1]')).toMatch(/^over budget: /)
  })
})
