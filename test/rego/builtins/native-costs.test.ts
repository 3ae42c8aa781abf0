import { describe, expect, test } from 'vitest'

import { nativeFailures } from '../../../src/rego/builtins/native/native-failures.js'
import type { WorkMeter } from '../../../src/rego/metering/work-meter.js'
import { RegoNumber, RegoObject, RegoSet } from '../../../src/rego/values/value.js'
import type { RegoValue } from '../../../src/rego/values/value.js'

class TooMuch extends Error {}

/** The steps that a call is charged for. Throws TooMuch if it ends the evaluation. */
function stepsOf(builtin: string, args: readonly RegoValue[]): number {
  let steps = 0
  const meter: WorkMeter = {
    spend: (more) => (steps += more),
    reserve: () => undefined,
    exceed: (reason) => {
      throw new TooMuch(reason)
    },
  }
  nativeFailures[builtin]?.(args, { nowNs: 0n, memo: new Map(), meter })
  return steps
}

const number = (text: string): RegoNumber => new RegoNumber(text)
const replacing = (from: string, to: string, text: string): RegoValue[] => [
  RegoObject.fromRecord({ [from]: to }),
  text,
]

describe('a native built-in that the host answers is charged for', () => {
  test('every byte of a text that is looked through', () => {
    expect(stepsOf('strings.replace_n', replacing('a', 'b', 'ac'.repeat(10_000)))).toBeGreaterThan(50_000)
  })

  test('comparing near matches at every offset', () => {
    const args = replacing(`${'a'.repeat(2000)}b`, '', 'a'.repeat(4000))
    expect(stepsOf('strings.replace_n', args)).toBeGreaterThan(500_000)
  })

  test('searching a text for every delimiter', () => {
    const delimiters = Array.from({ length: 1000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
    const text = 'x'.repeat(100_000)
    const steps = stepsOf('glob.match', ['*', delimiters, text]) - stepsOf('glob.match', ['*', ['/'], text])
    expect(steps).toBeGreaterThan(150_000)
  })

  test('combining the wildcards of a pattern', () => {
    const short = stepsOf('glob.match', ['?'.repeat(20), ['/'], ''])
    const long = stepsOf('glob.match', ['?'.repeat(200), ['/'], ''])
    expect(long).toBeGreaterThan(300 * short)
    expect(stepsOf('glob.match', [`[!${'abcdefghij'.repeat(20)}]`.repeat(20), ['/'], ''])).toBeGreaterThan(
      200_000,
    )
  })

  test('a text that becomes longer', () => {
    const short = stepsOf('strings.replace_n', replacing('a', 'b', 'a'.repeat(1000)))
    const long = stepsOf('strings.replace_n', replacing('a', 'b'.repeat(1000), 'a'.repeat(1000)))
    expect(long - short).toBeGreaterThan(100_000)
  })

  test('every character of joined texts', () => {
    const texts = new RegoSet(['x'.repeat(5000), 'y'.repeat(5000)])
    expect(stepsOf('concat', [',', texts])).toBeGreaterThan(10_000)
  })

  test('the digits of a fraction, which take more than linear time', () => {
    const shortSteps = stepsOf('div', [number('7'), number('3e1500')])
    const longSteps = stepsOf('div', [number('7'), number('3e15000')])
    expect(longSteps).toBeGreaterThan(50 * shortSteps)
  })
})

test.each<[string, RegoValue[]]>([
  ['plus', [number('9'.repeat(20_001)), number('1')]],
  ['mul', [number(`0.${'9'.repeat(20_001)}`), number('1')]],
  ['mul', [number('1e15000'), number('1e15000')]],
  ['product', [Array.from({ length: 100 }, () => number('1e1000'))]],
  ['div', [number('1e-15000'), number('1e15000')]],
])('%s ends the evaluation if its numbers or its result have too many digits', (builtin, args) => {
  expect(() => stepsOf(builtin, args)).toThrow(TooMuch)
})
