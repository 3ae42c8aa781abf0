import { describe, expect, it } from 'vitest'
import { jsonSchemaBuiltins } from '../../../../src/rego/builtins/json-schema/json-schema.js'
import { builtinCases } from '../../../support/builtin-cases.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

describe('JSON schemas', () => {
  it.each(builtinCases('json-schema'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(jsonSchemaBuiltins, builtin, args)).toBe(outcome)
  })

  it('fetches no schema from elsewhere', () => {
    const args = '[{}, {"$ref": "http://localhost:1/schema.json"}]'
    expect(outcomeOf(jsonSchemaBuiltins, 'json.match_schema', args)).toBe(
      'eval_builtin_error: reference to another document is not allowed: http://localhost:1/schema.json',
    )
  })

  it('ends the evaluation over a schema that refers to itself', () => {
    const args = '[{}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}]'
    expect(outcomeOf(jsonSchemaBuiltins, 'json.match_schema', args)).toMatch(/^over budget: /)
  })
})
