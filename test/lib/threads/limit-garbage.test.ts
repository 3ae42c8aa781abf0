import { setFlagsFromString } from 'node:v8'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { limitGarbage, makeRoomForBody } from '../../../src/lib/threads/limit-garbage.js'

vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }))

const MIB = 1024 * 1024
const flags = (): string[] => vi.mocked(setFlagsFromString).mock.calls.map(([flag]) => flag)

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.clearAllMocks()
})

test('heaps may grow further as long as large bodies come, and as usual ten seconds after the last one', () => {
  makeRoomForBody(10 * MIB)
  expect(flags(), 'where V8 goes by its own rule').toEqual([])

  limitGarbage(150)
  makeRoomForBody(MIB)
  expect(flags()).toEqual(['--heap-growing-percent=150'])

  for (let body = 0; body < 5; body += 1) {
    makeRoomForBody(10 * MIB)
    vi.advanceTimersByTime(6000)
  }
  expect(flags()).toEqual(['--heap-growing-percent=150', '--heap-growing-percent=400'])

  vi.advanceTimersByTime(4000)
  expect(flags().at(-1)).toBe('--heap-growing-percent=150')
  expect(vi.getTimerCount()).toBe(0)

  makeRoomForBody(10 * MIB)
  expect(flags().at(-1)).toBe('--heap-growing-percent=400')
})
