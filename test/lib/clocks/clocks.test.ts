import { beforeEach, describe, expect, it } from 'vitest'

import { makePassedTime } from '../../../src/lib/clocks/passed-time.js'
import { makeRemovalTime } from '../../../src/lib/clocks/removal-time.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

let wallMs: number
let steadyMs: number

beforeEach(() => {
  wallMs = Date.parse('2026-11-22T12:00:00Z')
  steadyMs = 5000
})

/** Advances both clocks, and also moves the wall clock. */
function pass(ms: number, moved = 0): void {
  steadyMs += ms
  wallMs += ms + moved
}

describe('time that has passed', () => {
  it.each([
    ['goes on as both clocks do', 1000, 0, 1000],
    ['goes on while a clock is set back', 1000, -DAY, 1000],
    ['goes on by what a machine slept', 0, DAY, DAY],
  ])('%s', (_, ms, moved, expected) => {
    const passed = makePassedTime(
      () => wallMs,
      () => steadyMs,
    )
    const before = passed()
    pass(ms, moved)
    expect(passed() - before).toBe(expected)
  })
})

describe('the time by which records are removed', () => {
  const open = (): (() => number) =>
    makeRemovalTime(
      () => wallMs,
      () => steadyMs,
    )

  it('is that of the clock', () => {
    const time = open()
    pass(10 * DAY)
    expect(time()).toBe(wallMs)
  })

  it('follows a clock that is corrected, and one that is set back', () => {
    const time = open()
    pass(0, HOUR / 2)
    expect(time()).toBe(wallMs)
    pass(0, -40 * DAY)
    expect(time()).toBe(wallMs)
  })

  it('stays while a clock that was set forward has not been so for a day', () => {
    const time = open()
    const rightMs = wallMs
    pass(0, 60 * DAY)
    expect(time()).toBe(rightMs)
    pass(DAY - 1)
    expect(time()).toBe(rightMs + DAY - 1)
    pass(1)
    expect(time()).toBe(wallMs)
  })

  it('waits for another day when the clock is set forward once more', () => {
    const time = open()
    pass(0, 60 * DAY)
    time()
    pass(DAY / 2, 60 * DAY)
    time()
    pass(DAY / 2)
    expect(time()).toBe(wallMs - 120 * DAY)
  })

  it('is correct immediately after the clock is corrected', () => {
    const time = open()
    pass(0, 60 * DAY)
    time()
    pass(HOUR, -60 * DAY)
    expect(time()).toBe(wallMs)
  })
})
