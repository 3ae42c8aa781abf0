import { describe, expect, it } from 'vitest'
import type { BuiltinContext } from '../../../src/rego/builtins/shared/builtin.js'
import { generousMeter } from '../../support/generous-meter.js'
import { numberBuiltins } from '../../../src/rego/builtins/cast.js'
import { RegoNumber } from '../../../src/rego/values/value.js'
import { outcomeOf } from '../../support/builtin-outcome.js'

const notAnInteger = 'eval_type_error: operand 2 must be integer number but got floating-point number'

function draw(key: string, bound: bigint, context: BuiltinContext): bigint | undefined {
  const value = numberBuiltins['rand.intn']?.([key, RegoNumber.of(bound)], context)
  return value instanceof RegoNumber ? value.toBigInt() : undefined
}

describe('random numbers', () => {
  it.each([
    ['["a", 0]', '0'],
    ['["a", 1]', '0'],
    ['["a", -1]', '0'],
    ['["a", 1.5]', notAnInteger],
    ['["a", 1.0]', '0'],
    ['["a", 9223372036854775808]', notAnInteger],
    ['["a", "b"]', 'eval_type_error: operand 2 must be number but got string'],
    ['[1, 1]', 'eval_type_error: operand 1 must be string but got number'],
  ])('rand.intn of %s gives %s as OPA does', (args, outcome) => {
    expect(outcomeOf(numberBuiltins, 'rand.intn', args)).toBe(outcome)
  })

  it.each([6n, -6n, 2n ** 63n - 1n, -(2n ** 63n)])('stays from 0 up to the size of %s', (bound) => {
    const size = bound < 0n ? -bound : bound
    for (let i = 0; i < 200; i++) {
      const drawn = draw('die', bound, { nowNs: 0n, memo: new Map(), meter: generousMeter() }) ?? -1n
      expect(drawn >= 0n && drawn < size).toBe(true)
    }
  })

  it('draws once for each key and bound in a decision', () => {
    const decision: BuiltinContext = { nowNs: 0n, memo: new Map(), meter: generousMeter() }
    const bound = 2n ** 62n
    const first = draw('a', bound, decision)
    expect(draw('a', bound, decision)).toBe(first)
    expect(draw('b', bound, decision)).not.toBe(first)
    expect(draw('a', bound - 1n, decision)).not.toBe(first)
  })
})
