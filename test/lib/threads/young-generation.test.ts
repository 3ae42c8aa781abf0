import { afterEach, expect, test, vi } from 'vitest'

import {
  growYoungGeneration,
  growYoungGenerationWhenBusy,
  youngGenerationBytes,
} from '../../../src/lib/threads/young-generation.js'

const MIB = 1024 * 1024

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('a young generation grows to the full size in one go, and stays as it is when it is asked to again', () => {
  growYoungGeneration()
  const full = youngGenerationBytes()
  growYoungGeneration()

  expect(full).toBeGreaterThanOrEqual(16 * MIB)
  expect(youngGenerationBytes()).toBe(full)
})

test('a thread is looked at every second until it is told to stop', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const looks = vi.spyOn(performance, 'eventLoopUtilization')
  const stop = growYoungGenerationWhenBusy()
  looks.mockClear()

  vi.advanceTimersByTime(2000)
  const before = looks.mock.calls.length
  stop()
  vi.advanceTimersByTime(5000)

  expect(before).toBeGreaterThan(0)
  expect(looks.mock.calls).toHaveLength(before)
})
