import fc from 'fast-check'
import { expect, test } from 'vitest'

import { CollectedBytes } from '../../src/lib/collected-bytes.js'

test('returns the bytes of any pieces', () => {
  const sizes = fc.array(fc.oneof(fc.nat(3), fc.nat(70_000)), { maxLength: 120 })
  fc.assert(
    fc.property(sizes, (lengths) => {
      const collected = new CollectedBytes()
      const pieces = lengths.map((length, place) => Buffer.alloc(length, place))
      for (const piece of pieces) collected.add(Buffer.from(piece))
      expect(collected.length).toBe(lengths.reduce((sum, length) => sum + length, 0))
      expect(collected.take().equals(Buffer.concat(pieces))).toBe(true)
      expect(collected.take()).toHaveLength(0)
    }),
    { numRuns: 50 },
  )
})

test('gives the very memory of a single piece', () => {
  const piece = Buffer.from('all of it')
  const collected = new CollectedBytes()
  collected.add(piece)
  expect(collected.take()).toBe(piece)
})

test('keeps none of the memory of many small pieces', () => {
  const collected = new CollectedBytes()
  const pieces = Array.from({ length: 100 }, () => Buffer.from('before'))
  for (const piece of pieces) collected.add(piece)
  for (const piece of pieces) piece.fill('later')
  expect(collected.take().toString().endsWith('before')).toBe(true)
})
