import { describe, expect, it } from 'vitest'
import { crc32 } from '../../src/lib/bytes.js'

const bytes = (text: string): Buffer => Buffer.from(text)

describe('crc32', () => {
  it('is what the catalogue of CRC algorithms gives to check it by', () => {
    expect(crc32(bytes('123456789'))).toBe(0xcbf43926)
    expect(crc32(bytes(''))).toBe(0)
  })

  it('goes on from what came before', () => {
    expect(crc32(bytes('56789'), crc32(bytes('1234')))).toBe(0xcbf43926)
  })
})
