import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { repeat } from '../../../src/main/timers/repeat.js'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

it('reports a persistent failure once a minute', async () => {
  const failed = vi.fn()
  const repeated = repeat(250, () => Promise.reject(new Error('the disk is full')), failed)
  await vi.advanceTimersByTimeAsync(59_000)
  expect(failed).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(2000)
  expect(failed).toHaveBeenCalledTimes(2)
  await repeated.stop()
})

it('reports it once a minute although the clock is set back by a day', async () => {
  const failed = vi.fn()
  const repeated = repeat(250, () => Promise.reject(new Error('the disk is full')), failed)
  await vi.advanceTimersByTimeAsync(30_000)
  vi.setSystemTime(Date.now() - 24 * 3_600_000)
  await vi.advanceTimersByTimeAsync(31_000)
  expect(failed).toHaveBeenCalledTimes(2)
  await repeated.stop()
})

it('reports another failure immediately, and the same one again after a success', async () => {
  const outcomes = ['full', 'full', 'damaged', undefined, 'damaged']
  const told: string[] = []
  const act = (): Promise<void> => {
    const outcome = outcomes.shift()
    return outcome === undefined ? Promise.resolve() : Promise.reject(new Error(outcome))
  }
  const repeated = repeat(250, act, ({ message }) => told.push(message))
  await vi.advanceTimersByTimeAsync(5 * 250)
  expect(told).toEqual(['full', 'damaged', 'damaged'])
  await repeated.stop()
})
