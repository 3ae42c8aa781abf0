import { describe, expect, it } from 'vitest'
import { globQuoteBuiltins } from '../../../src/rego/builtins/glob-quote.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('glob.quote_meta', () => {
  it.each(builtinCases('glob-quote'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(globQuoteBuiltins, builtin, args)).toBe(outcome)
  })
})
