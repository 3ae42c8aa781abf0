import { describe, expect, it } from 'vitest'
import { runtimeBuiltins } from '../../../src/rego/builtins/runtime.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('what a policy learns of its runtime', () => {
  it('shows the release of the language, but no configuration and no environment', () => {
    expect(outcomeOf(runtimeBuiltins, 'opa.runtime', '[]')).toBe(
      '{"commit":"","config":{},"env":{},"version":"1.20.2"}',
    )
  })

  it('takes a note and says true', () => {
    expect(outcomeOf(runtimeBuiltins, 'trace', '["note"]')).toBe('true')
  })

  it('takes nothing but a text for a note', () => {
    expect(outcomeOf(runtimeBuiltins, 'trace', '[1]')).toBe(
      'eval_type_error: operand 1 must be string but got number',
    )
  })
})
