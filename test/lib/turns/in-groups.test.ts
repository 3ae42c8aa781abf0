import { setImmediate } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { inGroups } from '../../../src/lib/turns/in-groups.js'

const NUMBERS = Array.from({ length: 100 }, (_, number) => number)

test('results are in the order of the items, and few run in parallel', async () => {
  let [running, most] = [0, 0]
  const doubled = await inGroups(NUMBERS, async (number) => {
    running += 1
    most = Math.max(most, running)
    for (let turn = 0; turn < number % 3; turn += 1) await setImmediate()
    running -= 1
    return number * 2
  })
  expect(doubled).toEqual(NUMBERS.map((number) => number * 2))
  expect(most).toBeLessThanOrEqual(32)
})

test('a failure prevents work that has not started', async () => {
  const begun: number[] = []
  const work = inGroups(NUMBERS, (number) => {
    begun.push(number)
    return number === 40 ? Promise.reject(new Error('it is 40')) : Promise.resolve()
  })
  await expect(work).rejects.toThrow('it is 40')
  expect(begun).not.toContain(99)
})
