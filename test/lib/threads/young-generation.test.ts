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

test('a thread that is busy for some seconds has it grow, one that rests in between has not, until it is told to stop', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let utilization = 1
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({
    idle: 0,
    active: 0,
    utilization,
  }))
  const grow = vi.fn()
  const stop = growYoungGenerationWhenBusy(grow)

  vi.advanceTimersByTime(2000)
  utilization = 0.1
  vi.advanceTimersByTime(1000)
  utilization = 1
  vi.advanceTimersByTime(2000)
  expect(grow).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(grow).toHaveBeenCalledOnce()

  stop()
  vi.advanceTimersByTime(5000)
  expect(grow).toHaveBeenCalledOnce()
})
