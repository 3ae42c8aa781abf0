import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { toAppError } from '../../../src/errors/app-error.js'
import { PageQueue } from '../../../src/http/transport/page-queue.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const FIRST = [1, 2, 3, 4, 5, 6, 7, 8]

/** Requests nine pages that end on demand; eight are rendered at a time. */
function askForNine(): {
  readonly made: number[]
  readonly end: () => void
  readonly leave: () => void
  readonly last: Promise<unknown>
} {
  const pages = new PageQueue()
  const made: number[] = []
  const ends: (() => void)[] = []
  let leave = (): void => undefined
  const asked = [...FIRST, 9].map((name) => {
    const make = (): Promise<number> => {
      made.push(name)
      return new Promise((resolve) => ends.push(() => resolve(name)))
    }
    return pages.make(make, (gone) => (leave = gone)).catch((error: unknown) => toAppError(error).kind)
  })
  return { made, end: () => ends[0]?.(), leave: () => leave(), last: Promise.resolve(asked[8]) }
}

test('eight pages are made at once, and the next one when one of them is there', async () => {
  const { made, end } = askForNine()
  await vi.advanceTimersByTimeAsync(0)
  expect(made).toEqual(FIRST)
  end()
  await vi.advanceTimersByTimeAsync(0)
  expect(made).toEqual([...FIRST, 9])
})

test('a page that would wait for over five seconds is refused', async () => {
  const { made, last } = askForNine()
  await vi.advanceTimersByTimeAsync(5000)
  expect([await last, made]).toEqual(['unavailable', FIRST])
})

test('a page that takes longer than that, once it is begun, is made', async () => {
  const { end, last, made } = askForNine()
  end()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(made).toEqual([...FIRST, 9])
  await expect(Promise.race([last, Promise.resolve('not yet')])).resolves.toBe('not yet')
})

test('a page whose caller leaves while it waits is not made', async () => {
  const { made, leave, end, last } = askForNine()
  leave()
  expect(await last).toBe('invalid')
  end()
  await vi.advanceTimersByTimeAsync(0)
  expect(made).toEqual(FIRST)
})
