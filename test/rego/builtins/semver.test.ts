import { describe, expect, it } from 'vitest'
import { semverBuiltins } from '../../../src/rego/builtins/semver.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('semantic versions', () => {
  it.each(builtinCases('semver'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(semverBuiltins, builtin, args)).toBe(outcome)
  })
})
