import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  bitLength,
  goFloatToText,
  isSame,
  parseGoFloat,
  round,
} from '../../../../src/rego/builtins/native/go-float.js'
import { generousMeter } from '../../../support/generous-meter.js'

describe('a number of 64 bits', () => {
  test('has as many bits as its binary text', () => {
    const large = fc.bigInt({ min: 1n, max: 1n << 1100n })
    const nearPower = fc
      .tuple(fc.nat(1100), fc.integer({ min: -2, max: 2 }))
      .map(([bits, beside]) => (1n << BigInt(bits)) + BigInt(beside))
    fc.assert(
      fc.property(fc.oneof(large, nearPower, fc.bigInt({ min: 1n, max: 1n << 70n })), (value) => {
        const magnitude = value <= 0n ? 1n : value
        expect(bitLength(magnitude)).toBe(magnitude.toString(2).length)
        expect(bitLength(-magnitude)).toBe(bitLength(magnitude))
      }),
    )
  })

  test('is written so that the same number is read again, and no digit less would do', () => {
    const mantissa = fc.oneof(
      fc.bigInt({ min: 1n, max: (1n << 64n) - 1n }),
      fc.bigInt({ min: 1n, max: 100_000n }),
    )
    fc.assert(
      fc.property(mantissa, fc.integer({ min: -200, max: 200 }), (digits, exponent) => {
        // For powers of two Go treats the lower neighbour as equally distant, and may write digits
        // that identify another number.
        if ((digits & (digits - 1n)) === 0n) return
        const float = round(digits, exponent)
        const text = goFloatToText(float, generousMeter())
        expect(isSame(parseGoFloat(text, generousMeter()), float)).toBe(true)
        const [written = '', power] = text.split('e')
        if (!written.includes('.')) return
        // The two nearest shorter texts: the digit before the last unchanged, and incremented.
        const last = written.slice(0, -1)
        const place = 10n ** BigInt(last.length - last.indexOf('.') - 1)
        const shorter = BigInt(last.replace('.', ''))
        for (const candidate of [shorter, shorter + 1n]) {
          const shown = `${candidate}e${Number(power ?? 0) - (place.toString().length - 1)}`
          expect(isSame(parseGoFloat(shown, generousMeter()), float)).toBe(false)
        }
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['0.1', '0.1'],
    ['10.5', '10.5'],
    ['1e-7', '1e-07'],
    ['123456789012345678901234567890', '123456789012345678900000000000'],
  ])('%s is written %s', (text, written) => {
    expect(goFloatToText(parseGoFloat(text, generousMeter()), generousMeter())).toBe(written)
  })
})
