import { setTimeout as sleep } from 'node:timers/promises'

import { afterEach, expect, test, vi } from 'vitest'
import type { Mock } from 'vitest'

import { collectEverything } from '../../../src/lib/threads/collect-garbage.js'
import {
  growYoungGeneration,
  YoungGeneration,
  youngGenerationBytes,
} from '../../../src/lib/threads/young-generation.js'

const MIB = 1024 * 1024

afterEach(() => {
  vi.useRealTimers()
})

test('a young generation grows to the full size in one go, and stays as it is when it is asked to again', () => {
  growYoungGeneration()
  const full = youngGenerationBytes()
  growYoungGeneration()

  expect(full).toBeGreaterThanOrEqual(16 * MIB)
  expect(youngGenerationBytes()).toBe(full)
})

interface Watched {
  readonly youngGeneration: YoungGeneration
  readonly grow: Mock<() => void>
  readonly collect: Mock<() => void>
  readonly answerForSeconds: (...requests: readonly number[]) => void
}

function watch(): Watched {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const [grow, collect] = [vi.fn<() => void>(), vi.fn<() => void>()]
  const youngGeneration = new YoungGeneration(grow, collect)
  const answerForSeconds = (...requests: readonly number[]): void => {
    for (const count of requests) {
      for (let answered = 0; answered < count; answered++) youngGeneration.answered()
      vi.advanceTimersByTime(1000)
    }
  }
  return { youngGeneration, grow, collect, answerForSeconds }
}

test('it grows where thousands of requests a second were answered for some seconds, until it is told to stop', () => {
  const { youngGeneration, grow, answerForSeconds } = watch()

  answerForSeconds(5000, 5000, 200, 5000, 5000)
  expect(grow).not.toHaveBeenCalled()
  answerForSeconds(5000)
  expect(grow).toHaveBeenCalledOnce()

  youngGeneration.stop()
  answerForSeconds(5000, 5000, 5000)
  expect(grow).toHaveBeenCalledOnce()
})

test('everything is collected once when nothing was asked for six seconds after the start, and not again for a few requests', () => {
  const { collect, answerForSeconds } = watch()

  answerForSeconds(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0)
  expect(collect).not.toHaveBeenCalled()
  answerForSeconds(0)
  expect(collect).toHaveBeenCalledOnce()

  answerForSeconds(100, 0, 0, 0, 0, 0, 0, 0)
  expect(collect).toHaveBeenCalledOnce()
})

test('everything is collected again when thousands of requests a second have come to an end', () => {
  const { collect, answerForSeconds } = watch()
  answerForSeconds(0, 0, 0, 0, 0, 0)

  answerForSeconds(5000, 5000, 5000, 0, 0, 0, 0, 0)
  expect(collect).toHaveBeenCalledOnce()
  answerForSeconds(0)
  expect(collect).toHaveBeenCalledTimes(2)
})

// Here, since flags of V8 hold for the tests of all threads: while it collects nothing grows.
test('a collection of everything frees what is no longer used', async () => {
  const unused = makeUnused()
  // Until then what was used in this turn is kept.
  await sleep(1)

  collectEverything(Infinity)

  expect(unused.deref()).toBeUndefined()
})

test('a large heap is left to V8, since a collection at once would hold the thread up', async () => {
  const unused = makeUnused()
  await sleep(1)

  collectEverything(0)

  expect(unused.deref()).toBeDefined()
})

function makeUnused(): WeakRef<object> {
  return new WeakRef({ large: new Array(1000).fill(0) })
}
