import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { toAppError } from '../../../src/errors/app-error.js'
import { RequestQueue } from '../../../src/http/transport/request-queue.js'

const MB = 1024 * 1024

let now = 0
beforeEach(() => {
  now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
})
afterEach(() => void vi.restoreAllMocks())

/** Waits for the end of the event loop's turn. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Takes turns and records the results in order. */
function ask(queue: RequestQueue, names: readonly string[], { bytes = 0, takesMs = 0 } = {}): string[] {
  const seen: string[] = []
  for (const name of names) {
    const begin = (): void => {
      seen.push(name)
      now += takesMs
    }
    const turn = queue.takeTurn(bytes)
    if (turn === undefined) begin()
    else void turn.then(begin, (error: unknown) => seen.push(`${name}: ${toAppError(error).kind}`))
  }
  return seen
}

test('what is quick is answered in the turn in which it comes', () => {
  expect(ask(new RequestQueue(), ['a', 'b', 'c'], { takesMs: 1 })).toEqual(['a', 'b', 'c'])
})

test('once a turn has taken its time, each later one answers one request', async () => {
  const seen = ask(new RequestQueue(), ['a', 'b', 'c', 'd'], { takesMs: 30 })
  expect(seen).toEqual(['a'])
  await nextTurn()
  expect(seen).toEqual(['a', 'b'])
  await nextTurn()
  expect(seen).toEqual(['a', 'b', 'c'])
})

test('small requests that are quick are answered together in a later turn', async () => {
  const queue = new RequestQueue()
  const seen = ask(queue, ['a'], { takesMs: 30 })
  const later = ask(queue, ['b', 'c', 'd', 'e', 'f', 'g'], { takesMs: 2 })
  await nextTurn()
  expect([seen, later]).toEqual([['a'], ['b', 'c', 'd', 'e', 'f']])
  await nextTurn()
  expect(later).toEqual(['b', 'c', 'd', 'e', 'f', 'g'])
})

test('small requests do not wait for all large ones that came before, and each turn answers a large one', async () => {
  const queue = new RequestQueue()
  const large = ask(queue, ['a', 'b', 'c'], { bytes: MB, takesMs: 30 })
  const small = ask(queue, ['d', 'e'], { takesMs: 1 })
  expect([large, small]).toEqual([['a'], []])
  await nextTurn()
  expect([large, small]).toEqual([
    ['a', 'b'],
    ['d', 'e'],
  ])
  await nextTurn()
  expect(large).toEqual(['a', 'b', 'c'])
})

test('who comes while others wait does not overtake them', async () => {
  const queue = new RequestQueue()
  const seen = ask(queue, ['a', 'b'], { takesMs: 30 })
  const later = ask(queue, ['c'])
  await nextTurn()
  expect([seen, later]).toEqual([['a', 'b'], []])
  await nextTurn()
  expect(later).toEqual(['c'])
})

test('while connections come, what took long is followed by turns that answer nothing', async () => {
  const queue = new RequestQueue()
  queue.accepted()
  const seen = ask(queue, ['a', 'b'], { takesMs: 12 })
  queue.accepted()
  await nextTurn()
  queue.accepted()
  await nextTurn()
  expect(seen).toEqual(['a'])
  await nextTurn()
  await nextTurn()
  expect(seen).toEqual(['a', 'b'])
})

test('while connections come, quick requests are answered', async () => {
  const queue = new RequestQueue()
  const seen: string[][] = []
  for (let turn = 0; turn < 5; turn += 1) {
    queue.accepted()
    seen.push(ask(queue, ['a'], { takesMs: 0.2 }))
    await nextTurn()
  }
  expect(seen).toEqual([['a'], ['a'], ['a'], ['a'], ['a']])
})

test('who has waited for five seconds is refused, and who has not is answered', async () => {
  const queue = new RequestQueue()
  const seen = ask(queue, ['a', 'b', 'c'], { takesMs: 30 })
  now += 4900
  const later = ask(queue, ['d'])
  now += 200
  await nextTurn()
  expect([seen, later]).toEqual([['a', 'b: unavailable', 'c: unavailable'], ['d']])
})

test('bodies that wait are refused beyond a bound, and have room again once others are answered', async () => {
  const queue = new RequestQueue()
  const seen = ask(queue, ['a', 'b', 'c'], { bytes: 200 * MB, takesMs: 30 })
  await nextTurn()
  expect(seen).toEqual(['a', 'c: unavailable', 'b'])
  const later = ask(queue, ['d'], { bytes: 200 * MB })
  await nextTurn()
  expect(later).toEqual(['d'])
})
