import { describe, expect, test } from 'vitest'

import { RunQueue } from '../../../../src/analysis/runs/intervals/run-queue.js'
import type { WaitingRun } from '../../../../src/analysis/runs/intervals/run-queue.js'

function makeQueue(most: number, runs: readonly WaitingRun[]): RunQueue {
  const queue = new RunQueue(most)
  for (const run of runs) queue.add(run)
  return queue
}

/** Starts all runs that may start. Returns them in order. */
function beginAll(queue: RunQueue): number[] {
  const begun: number[] = []
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    queue.begin(next)
    begun.push(next.id)
  }
  return begun
}

const shop = (id: number, dueMs: number): WaitingRun => ({ id, application: 'shop', dueMs })
const cart = (id: number, dueMs: number): WaitingRun => ({ id, application: 'cart', dueMs })

describe('the queue of intervals', () => {
  test.each([
    ['begins with the run that is due longest', 4, [shop(1, 30), cart(2, 10), shop(3, 20)], [2, 3, 1]],
    ['has room for so many and no more', 2, [shop(1, 1), cart(2, 2), cart(3, 3)], [1, 2]],
    ['leaves half of its room to other applications', 4, [1, 2, 3, 4].map((id) => shop(id, id)), [1, 2]],
    [
      'lets another application go before one that has its half',
      2,
      [shop(1, 1), shop(2, 2), cart(3, 3)],
      [1, 3],
    ],
    ['gives the larger half of an odd number', 3, [shop(1, 1), shop(2, 2), shop(3, 3)], [1, 2]],
    ['works with room for a single one', 1, [shop(1, 1), cart(2, 2)], [1]],
    ['has nothing to begin when no run waits', 4, [], []],
  ] as const)('%s', (_, most, runs, expected) => {
    expect(beginAll(makeQueue(most, runs))).toEqual(expected)
  })

  test('begins no second interval of a run before the first has ended', () => {
    const queue = makeQueue(4, [shop(1, 1)])
    beginAll(queue)
    queue.postpone(1, 2)
    expect(queue.next()).toBeUndefined()
    queue.end(1)
    expect(queue.next()).toEqual(shop(1, 2))
  })

  test('has room again for the application whose interval has ended', () => {
    const queue = makeQueue(2, [shop(1, 1), shop(2, 2)])
    expect(beginAll(queue)).toEqual([1])
    queue.remove(1)
    queue.end(1)
    expect(beginAll(queue)).toEqual([2])
  })

  test('does not bring back a run that was removed while it was looked at', () => {
    const queue = makeQueue(4, [shop(1, 1)])
    beginAll(queue)
    queue.remove(1)
    queue.postpone(1, 2)
    queue.end(1)
    expect(queue.next()).toBeUndefined()
  })
})
