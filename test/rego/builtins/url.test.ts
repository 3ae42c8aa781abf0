import { describe, expect, it } from 'vitest'
import { urlBuiltins } from '../../../src/rego/builtins/url.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('queries of URLs', () => {
  it.each(builtinCases('url-query'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(urlBuiltins, builtin, args)).toBe(outcome)
  })

  it('keeps the value of the text when a number and a text make the same key', () => {
    expect(outcomeOf(urlBuiltins, 'urlquery.encode_object', '[{1: "x", "1": "y"}]')).toBe('"1=y"')
  })

  it('accepts sets of strings as values', () => {
    expect(outcomeOf(urlBuiltins, 'urlquery.encode_object', '[{"c": {"q", "p"}}]')).toBe('"c=p&c=q"')
  })
})
