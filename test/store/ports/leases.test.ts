import { expect, test } from 'vitest'

import { soleLeases, whileLeased } from '../../../src/store/ports/leases.js'
import type { Leases } from '../../../src/store/ports/leases.js'

/** Leases that are granted or not, with a record of released ones. */
function makeLeases(isFree: boolean) {
  const seen: string[] = []
  const leases: Leases = {
    take: (kind, key) => {
      seen.push(`take ${kind} ${key}`)
      const release = (): Promise<void> => Promise.resolve(void seen.push('release'))
      return Promise.resolve(isFree ? { lost: new AbortController().signal, release } : undefined)
    },
  }
  return { leases, seen }
}

test('work is done under its lease, which is released then', async () => {
  const { leases, seen } = makeLeases(true)
  const isDone = await whileLeased(leases, 'gate', '7', () => Promise.resolve(void seen.push('work')))
  expect([isDone, ...seen]).toEqual([true, 'take gate 7', 'work', 'release'])
})

test('the lease of work that fails is released too', async () => {
  const { leases, seen } = makeLeases(true)
  await expect(whileLeased(leases, 'gate', '7', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
  expect(seen).toEqual(['take gate 7', 'release'])
})

test('work that somebody else is at is not done', async () => {
  const { leases, seen } = makeLeases(false)
  expect(await whileLeased(leases, 'gate', '7', () => Promise.reject(new Error('no')))).toBe(false)
  expect(seen).toEqual(['take gate 7'])
})

test('who has the store alone has every lease', async () => {
  const [one, other] = [await soleLeases.take('gate', '7'), await soleLeases.take('gate', '7')]
  expect([one?.lost.aborted, other?.lost.aborted]).toEqual([false, false])
  await one?.release()
})
