import { afterEach, expect, test, vi } from 'vitest'

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

test('it grows where thousands of requests a second were answered for some seconds, until it is told to stop', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const grow = vi.fn()
  const youngGeneration = new YoungGeneration(grow)
  const answerForSeconds = (...requests: readonly number[]): void => {
    for (const count of requests) {
      for (let answered = 0; answered < count; answered++) youngGeneration.answered()
      vi.advanceTimersByTime(1000)
    }
  }

  answerForSeconds(5000, 5000, 200, 5000, 5000)
  expect(grow).not.toHaveBeenCalled()
  answerForSeconds(5000)
  expect(grow).toHaveBeenCalledOnce()

  youngGeneration.stop()
  answerForSeconds(5000, 5000, 5000)
  expect(grow).toHaveBeenCalledOnce()
})
