import { expect, test } from 'vitest'

import { MainThreadWatch } from '../../../src/main/threads/main-thread-watch.js'

const CHECK_MS = 5000

/**
 * A thread with a watch; `pass` lets it work for a while and looks at it, and returns for how long
 * it has been held.
 */
function watched() {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  let onCoreMs = 40_000
  const watch = new MainThreadWatch(beats, () => onCoreMs)
  const pass = (workedMs: number, isBeating = false): number => {
    onCoreMs += workedMs
    if (isBeating) Atomics.add(beats, 0, 1)
    return watch.check()
  }
  return { pass }
}

test('a thread that works without a beat is held for as long as it works', () => {
  const { pass } = watched()
  pass(100, true)
  expect([pass(CHECK_MS), pass(CHECK_MS), pass(4000)]).toEqual([CHECK_MS, 2 * CHECK_MS, 2 * CHECK_MS + 4000])
})

test('a beat resets the count', () => {
  const { pass } = watched()
  pass(100, true)
  pass(CHECK_MS)
  expect([pass(CHECK_MS, true), pass(CHECK_MS)]).toEqual([0, CHECK_MS])
})

test('a thread without a first beat, as during the start, does not count as blocked', () => {
  const { pass } = watched()
  expect([pass(CHECK_MS), pass(CHECK_MS)]).toEqual([0, 0])
})

test('a thread that has no time on a core, since a debugger stops it or the machine is busy, is not held', () => {
  const { pass } = watched()
  pass(100, true)
  expect([pass(0), pass(0), pass(10)]).toEqual([0, 0, 10])
})

test('a process that was stopped and continues is not held for the time of the stop', () => {
  const { pass } = watched()
  pass(100, true)
  expect(pass(3_600_000)).toBe(CHECK_MS)
})

test('every look without a beat counts as work where the system does not report the time on a core', () => {
  const beats = new Int32Array(new SharedArrayBuffer(4))
  const watch = new MainThreadWatch(beats, () => undefined)
  Atomics.add(beats, 0, 1)
  expect([watch.check(), watch.check(), watch.check()]).toEqual([0, CHECK_MS, 2 * CHECK_MS])
})
