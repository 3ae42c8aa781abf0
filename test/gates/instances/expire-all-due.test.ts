import { expect, test } from 'vitest'

import { expireAllDue } from '../../../src/gates/instances/expire-instances.js'
import type { Writer } from '../../../src/store/ports/transaction.js'

function writerOf(due: number): { writer: Writer; left: () => number } {
  let left = due
  const run = (_: unknown, { limit }: { limit: number }): Promise<number> => {
    const expired = Math.min(limit, left)
    left -= expired
    return Promise.resolve(expired)
  }
  return { writer: { run } as unknown as Writer, left: () => left }
}

test('thousands of instances expire in one go, in steps with a pause after each', async () => {
  const { writer, left } = writerOf(1234)
  const pauses: number[] = []
  const pause = (ms: number): Promise<void> => {
    pauses.push(ms)
    return Promise.resolve()
  }
  const { signal } = new AbortController()
  expect(await expireAllDue({ writer, now: () => 1, pause, signal })).toBe(1234)
  expect(left()).toBe(0)
  expect(pauses).toHaveLength(24)
  expect(pauses.every((ms) => ms >= 0)).toBe(true)
})

test('a stop ends it after the step under way', async () => {
  const { writer, left } = writerOf(1000)
  const stop = new AbortController()
  const pause = (): Promise<void> => {
    stop.abort()
    return Promise.resolve()
  }
  expect(await expireAllDue({ writer, now: () => 1, pause, signal: stop.signal })).toBe(100)
  expect(left()).toBe(900)
})
