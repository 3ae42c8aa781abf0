import { describe, expect, it } from 'vitest'
import { unitBuiltins } from '../../../src/rego/builtins/units.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('amounts with units', () => {
  it.each(builtinCases('units'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(unitBuiltins, builtin, args)).toBe(outcome)
  })

  it.each([
    ['units.parse', '["1e3M"]', '1000000000'],
    ['units.parse', '["2.5E3K"]', '2500000'],
    ['units.parse', '["1e-2"]', '0.0100000000'],
    ['units.parse', '["6e+3Mi"]', '6291456000'],
    ['units.parse_bytes', '["3.2E2MiB"]', '335544320'],
    ['units.parse_bytes', '["1e-2KB"]', '10'],
    [
      'units.parse_bytes',
      '["e3KB"]',
      'eval_builtin_error: units.parse_bytes: could not parse byte amount to a number',
    ],
    ['units.parse_bytes', '["1e9999999"]', 'eval_builtin_error: units.parse_bytes: exponent too large'],
  ])('%s of %s accepts an exponent like OPA since 1.0', (builtin, args, outcome) => {
    expect(outcomeOf(unitBuiltins, builtin, args)).toBe(outcome)
  })

  it.each([['1e99999'], ['1e-99999'], ['1'.repeat(2000)]])(
    'ends the evaluation over the amount %.12s',
    (amount) => {
      expect(outcomeOf(unitBuiltins, 'units.parse_bytes', JSON.stringify([amount]))).toBe(
        'over budget: an amount has more than 1000 digits',
      )
    },
  )
})
