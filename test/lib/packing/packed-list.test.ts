import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { packedList, PackedList } from '../../../src/lib/packing/packed-list.js'

describe('a packed list', () => {
  it('returns the added items in order, any number of times', () => {
    const items = fc.array(fc.tuple(fc.option(fc.integer()), fc.string({ unit: 'binary' })))
    fc.assert(
      fc.property(items, (added) => {
        const list = packedList(added)
        expect([...list]).toEqual(added)
        list.blocks()
        expect([...list]).toEqual(added)
        expect(list.length).toBe(added.length)
      }),
      { numRuns: 50 },
    )
  })

  it('takes more after it was read', () => {
    const list = new PackedList<number>()
    const added: number[] = []
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < 60_000; n += 1) {
        list.add(n)
        added.push(n)
      }
      list.blocks()
      expect([...list]).toEqual(added)
    }
  })

  it('holds lines in a fraction of their length', () => {
    const line = (n: number): [number, string] => [
      n,
      `INFO request ${n} of customer ${n % 7} served in ${n % 97} ms`,
    ]
    const lines = Array.from({ length: 20_000 }, (_, n) => line(n))
    const bytes = packedList(lines)
      .blocks()
      .reduce((sum, block) => sum + block.length, 0)
    expect(bytes).toBeLessThan(JSON.stringify(lines).length / 4)
  })
})
