import { describe, expect, it } from 'vitest'
import { objectSubsetBuiltins } from '../../../src/rego/builtins/object-subset.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('object.subset', () => {
  it.each(builtinCases('object-subset'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(objectSubsetBuiltins, builtin, args)).toBe(outcome)
  })
})
