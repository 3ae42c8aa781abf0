import { describe, expect, it } from 'vitest'
import { stringSearchBuiltins } from '../../../src/rego/builtins/string-search.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('searches in strings', () => {
  it.each(builtinCases('string-search'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(stringSearchBuiltins, builtin, args)).toBe(outcome)
  })
})
