import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FairQueue } from '../../../src/rego/slow/slow-evaluations.js'

function item(key: string, id: number, bytes = 1): { key: string; id: number; bytes: number } {
  return { key, id, bytes }
}

describe('a fair queue', () => {
  it('lets keys take turns', () => {
    const queue = new FairQueue({ maxItems: 10, maxBytes: 100 })
    for (const next of [item('a', 1), item('a', 2), item('a', 3), item('b', 4)]) queue.add(next)
    const taken = [queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]
    expect(taken.map((next) => next?.bytes && (next as { id: number } & typeof next).id)).toEqual([
      1,
      4,
      2,
      3,
      undefined,
    ])
  })

  it('makes room for one who asks little by the last of who asks most', () => {
    const queue = new FairQueue<ReturnType<typeof item>>({ maxItems: 3, maxBytes: 100 })
    for (const id of [1, 2, 3]) expect(queue.add(item('flood', id))).toEqual([])
    expect(queue.add(item('flood', 4))).toEqual([item('flood', 4)])
    expect(queue.add(item('other', 5))).toEqual([item('flood', 3)])
    expect(queue.length).toBe(3)
  })

  it('takes one that is larger than all its room, but no second one next to it', () => {
    const queue = new FairQueue<ReturnType<typeof item>>({ maxItems: 3, maxBytes: 10 })
    expect(queue.add(item('a', 1, 50))).toEqual([])
    expect(queue.add(item('b', 2, 1))).toEqual([item('b', 2, 1)])
  })

  it('loses and doubles nothing, whatever is added, removed and taken', () => {
    const step = fc.record({
      what: fc.constantFrom('add', 'take', 'remove'),
      key: fc.constantFrom('a', 'b', 'c'),
      bytes: fc.nat(8),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new FairQueue<ReturnType<typeof item>>({ maxItems: 5, maxBytes: 20 })
        const inside = new Set<ReturnType<typeof item>>()
        steps.forEach(({ what, key, bytes }, id) => {
          if (what === 'add') {
            const added = item(key, id, bytes)
            inside.add(added)
            for (const displaced of queue.add(added)) expect(inside.delete(displaced)).toBe(true)
          } else if (what === 'take') {
            const taken = queue.take()
            expect(taken === undefined ? inside.size === 0 : inside.delete(taken)).toBe(true)
          } else {
            const [first] = inside
            if (first !== undefined) expect(queue.remove(first) && inside.delete(first)).toBe(true)
          }
          expect(queue.length).toBe(inside.size)
          expect(queue.length).toBeLessThanOrEqual(5)
        })
        expect(new Set(queue.clear())).toEqual(inside)
      }),
    )
  })
})
