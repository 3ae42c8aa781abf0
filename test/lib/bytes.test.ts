import { crc32 } from 'node:zlib'

import fc from 'fast-check'
import { expect, test } from 'vitest'

import { combineCrc32, freeBytes } from '../../src/lib/bytes.js'

test('the CRC-32 of two parts is that of the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 }), (one, other) => {
      const whole = crc32(Buffer.concat([one, other]))
      expect(combineCrc32(crc32(one), crc32(other), other.length)).toBe(whole)
    }),
  )
})

test('large bytes are freed where nothing else is in their memory', () => {
  const large = Buffer.alloc(100_000, 'x')
  const part = Buffer.from(new ArrayBuffer(200_000), 0, 100_000)
  const shared = Buffer.from(new SharedArrayBuffer(100_000))
  for (const bytes of [large, part, shared]) freeBytes(bytes)
  expect([large, part, shared].map(({ length }) => length)).toEqual([0, 100_000, 100_000])
})
