import { describe, expect, it } from 'vitest'
import { runtimeBuiltins } from '../../../src/rego/builtins/runtime.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('the runtime that a policy sees', () => {
  it('shows the release of the language, but neither configuration nor environment', () => {
    expect(outcomeOf(runtimeBuiltins, 'opa.runtime', '[]')).toBe(
      '{"commit":"","config":{},"env":{},"version":"1.20.2"}',
    )
  })

  it('accepts a note and returns true', () => {
    expect(outcomeOf(runtimeBuiltins, 'trace', '["note"]')).toBe('true')
  })

  it('refuses a note that is not a string', () => {
    expect(outcomeOf(runtimeBuiltins, 'trace', '[1]')).toBe(
      'eval_type_error: operand 1 must be string but got number',
    )
  })
})
