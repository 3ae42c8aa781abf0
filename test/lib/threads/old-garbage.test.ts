import { expect, test, vi } from 'vitest'

import { OldGarbage } from '../../../src/lib/threads/old-garbage.js'

const MIB = 1024 * 1024
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A thread with 10 MB in use that never ceases to be, and the garbage of what it does. */
function makeThread() {
  const state = { nowMs: 0, garbage: 0 }
  const collect = vi.fn(() => void (state.garbage = 0))
  const garbage = new OldGarbage({
    collect,
    usedBytes: () => 10 * MIB + state.garbage,
    now: () => state.nowMs,
  })
  const work = async (afterMs: number, bytes: number): Promise<void> => {
    state.nowMs += afterMs
    state.garbage += bytes
    garbage.worked()
    await turn()
  }
  return { garbage, collect, work, state }
}

test('what a start has left is collected ten seconds later, and no sooner', async () => {
  const { collect, work } = makeThread()

  await work(9_999, 0)
  expect(collect).not.toHaveBeenCalled()
  await work(1, 0)
  expect(collect).toHaveBeenCalledOnce()
})

test('after that a thread collects when it has left 4 MB behind, at most every ten seconds', async () => {
  const { collect, work } = makeThread()
  await work(10_000, 0)

  await work(10_000, 3 * MIB)
  expect(collect).toHaveBeenCalledOnce()
  await work(5_000, 100 * MIB)
  expect(collect).toHaveBeenCalledOnce()
  await work(5_000, 0)
  expect(collect).toHaveBeenCalledTimes(2)
})

test('it collects once what has been done is answered, and once for all that is done in one turn', async () => {
  const { garbage, collect, state } = makeThread()
  state.nowMs = 10_000

  garbage.worked()
  garbage.worked()
  expect(collect).not.toHaveBeenCalled()
  await turn()
  await turn()
  expect(collect).toHaveBeenCalledOnce()
})
