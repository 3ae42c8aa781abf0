import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { QuietTime } from '../../../src/rego/loading/watch-policies.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watched(): { quiet: QuietTime; done: string[] } {
  const done: string[] = []
  return { quiet: new QuietTime({ soon: () => done.push('soon'), now: () => done.push('now') }), done }
}

test('several changes in a row are one', () => {
  const { quiet, done } = watched()
  for (let change = 0; change < 5; change += 1) {
    quiet.begin()
    vi.advanceTimersByTime(10)
  }
  vi.advanceTimersByTime(1000)
  expect(done).toEqual(['soon', 'now'])
})

test('changes that never come to rest are taken up more than twice a second', () => {
  const { quiet, done } = watched()
  for (let change = 0; change < 100; change += 1) {
    quiet.begin()
    vi.advanceTimersByTime(50)
  }
  expect(done.filter((what) => what === 'now').length).toBeGreaterThanOrEqual(11)
  expect(done.filter((what) => what === 'now').length).toBeLessThanOrEqual(12)
})

test('a change that has been given up is not taken up', () => {
  const { quiet, done } = watched()
  quiet.begin()
  quiet.end()
  vi.advanceTimersByTime(1000)
  expect(done).toEqual([])
})
