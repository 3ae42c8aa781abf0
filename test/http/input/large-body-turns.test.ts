import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'

import { LargeBodyTurns } from '../../../src/http/input/large-body-turns.js'

const LARGE = 10 * 1024 * 1024

test('large bodies that end together go on one at a time, and others are answered between them', async () => {
  const turns = new LargeBodyTurns()
  const order: string[] = []
  for (const name of ['first', 'second', 'third']) {
    const turn = turns.take(LARGE)
    if (turn === undefined) order.push(name)
    else void turn.then(() => order.push(name))
  }
  expect(turns.take(2000)).toBeUndefined()
  for (let asked = 0; asked < 3; asked += 1) {
    order.push('cheap')
    await setImmediate()
  }
  expect(order).toEqual(['first', 'cheap', 'second', 'cheap', 'third', 'cheap'])
  await setImmediate()
  expect(turns.take(LARGE)).toBeUndefined()
})

test('more than may wait are refused, and room is made by those that go on', async () => {
  const turns = new LargeBodyTurns()
  const waiting = Array.from({ length: 26 }, () => turns.take(LARGE))
  expect(() => turns.take(LARGE)).toThrow('too many large bodies wait to be read; try again')
  expect(() => turns.take(2000)).not.toThrow()
  await waiting[1]
  await expect(turns.take(LARGE)).resolves.toBeUndefined()
})

test('those who would wait for longer than five seconds are told to ask again later, once it is known what the others take', async () => {
  const turns = new LargeBodyTurns()
  const refused: unknown[] = []
  const all = Array.from({ length: 300 }, async () => {
    await turns.take(200 * 1024)
    const until = performance.now() + (refused.length === 0 ? 40 : 0)
    while (performance.now() < until);
    return 'answered'
  }).map((answer) => answer.catch((error: unknown) => refused.push(error)))
  const outcomes = await Promise.all(all)
  expect(refused.length).toBeGreaterThan(100)
  for (const error of refused) expect(error).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 5 })
  // The last ones, that is.
  expect(outcomes.slice(0, 300 - refused.length)).toEqual(Array(300 - refused.length).fill('answered'))
})

test('nobody is refused because the first ones take several times as long as the others', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const turns = new LargeBodyTurns()
  const all = Array.from({ length: 40 }, async (_, index) => {
    await turns.take(4 * 1024 * 1024)
    now += index < 3 ? 240 : 20
  })
  await expect(Promise.all(all)).resolves.toHaveLength(40)
  clock.mockRestore()
})

test('nobody is refused because the process stood still once', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0)
  const turns = new LargeBodyTurns()
  const all = Array.from({ length: 100 }, async () => turns.take(200 * 1024))
  now.mockReturnValue(60_000)
  await expect(Promise.all(all)).resolves.toHaveLength(100)
  now.mockRestore()
})
