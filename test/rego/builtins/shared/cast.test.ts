import { describe, expect, it } from 'vitest'
import { castBuiltins } from '../../../../src/rego/builtins/shared/cast.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('casts', () => {
  it.each(builtinCases('cast'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(castBuiltins, builtin, args)).toBe(outcome)
  })
})
