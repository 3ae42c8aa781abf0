import { describe, expect, it } from 'vitest'
import { hexBuiltins } from '../../../src/rego/builtins/hex.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('hexadecimal and base64 texts', () => {
  it.each(builtinCases('hex'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(hexBuiltins, builtin, args)).toBe(outcome)
  })
})
