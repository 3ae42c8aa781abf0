import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { combineCrc32, crc32 } from '../../src/lib/bytes.js'

const bytes = (text: string): Buffer => Buffer.from(text)

describe('crc32', () => {
  it('is what the catalogue of CRC algorithms gives to check it by', () => {
    expect(crc32(bytes('123456789'))).toBe(0xcbf43926)
    expect(crc32(bytes(''))).toBe(0)
  })

  it('of two parts is that of the whole', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 }), (one, other) => {
        const whole = crc32(Buffer.concat([one, other]))
        expect(combineCrc32(crc32(one), crc32(other), other.length)).toBe(whole)
      }),
    )
  })

  it('goes on from what came before', () => {
    expect(crc32(bytes('56789'), crc32(bytes('1234')))).toBe(0xcbf43926)
  })
})
