import { describe, expect, it } from 'vitest'
import { jsonPatchBuiltins } from '../../../../src/rego/builtins/json-patch/json-patch.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('JSON patches', () => {
  it.each(builtinCases('json-patch'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(jsonPatchBuiltins, builtin, args)).toBe(outcome)
  })
})
