import { describe, expect, it } from 'vitest'
import { regexBuiltins } from '../../../../src/rego/builtins/regex/regex.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('regular expressions', () => {
  it.each(builtinCases('regex'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(regexBuiltins, builtin, args)).toBe(outcome)
  })

  it('matches a pattern that would backtrack without end elsewhere', () => {
    const text = `${'a'.repeat(5000)}b`
    expect(outcomeOf(regexBuiltins, 'regex.replace', `["${text}", "(a+)+$", "-"]`)).toBe(`"${text}"`)
  })

  it('ends the evaluation over a replacement that multiplies its text beyond the limit', () => {
    const args = `["${'a'.repeat(10_000)}", ".*", "${'$0'.repeat(10_000)}"]`
    expect(outcomeOf(regexBuiltins, 'regex.replace', args)).toMatch(/^over budget: /)
  })

  it('decides globs with many repeats without trying every way', () => {
    const repeats = 'a*b*'.repeat(20)
    expect(outcomeOf(regexBuiltins, 'regex.globs_match', `["${repeats}c", "${repeats}d"]`)).toBe('false')
  })
})
