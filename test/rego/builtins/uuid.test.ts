import { describe, expect, it } from 'vitest'
import type { BuiltinContext } from '../../../src/rego/builtins/shared/builtin.js'
import { generousMeter } from '../../support/generous-meter.js'
import { uuidBuiltins } from '../../../src/rego/builtins/uuid.js'
import { builtinCases } from '../../support/builtin-cases.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

describe('UUIDs', () => {
  it.each(builtinCases('uuid'))('%s of %s gives %s as OPA does', (builtin, args, outcome) => {
    expect(outcomeOf(uuidBuiltins, builtin, args)).toBe(outcome)
  })

  it('makes one of version 4', () => {
    expect(outcomeOf(uuidBuiltins, 'uuid.rfc4122', '["key"]')).toMatch(
      /^"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"$/,
    )
  })

  it('makes one for each key and decision', () => {
    const decision: BuiltinContext = { nowNs: 0n, memo: new Map(), meter: generousMeter() }
    const next: BuiltinContext = { nowNs: 0n, memo: new Map(), meter: generousMeter() }
    const make = (key: string, context: BuiltinContext) => uuidBuiltins['uuid.rfc4122']?.([key], context)
    const first = make('a', decision)
    expect(make('a', decision)).toBe(first)
    expect(make('b', decision)).not.toBe(first)
    expect(make('a', next)).not.toBe(first)
  })
})
