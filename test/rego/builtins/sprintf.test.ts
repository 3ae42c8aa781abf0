import { describe, expect, it } from 'vitest'
import { stringBuiltins } from '../../../src/rego/builtins/strings.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('sprintf', () => {
  it.each(builtinCases('sprintf'))('%s of %j gives %j as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(stringBuiltins, builtin, args)).toBe(outcome)
  })

  it('ends the evaluation rather than build a result that no policy needs', () => {
    const format = '%1000000d'.repeat(20)
    const args = `["${format}", [${Array.from({ length: 20 }, () => '1').join(',')}]]`
    expect(outcomeOf(stringBuiltins, 'sprintf', args)).toMatch(/^over budget: /)
  })
})
