import { describe, expect, it } from 'vitest'
import { jsonMarshalBuiltins } from '../../../src/rego/builtins/json-marshal.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('JSON with a layout', () => {
  it.each(builtinCases('json-marshal'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(jsonMarshalBuiltins, builtin, args)).toBe(outcome)
  })
})
