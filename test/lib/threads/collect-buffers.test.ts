import { expect, test, vi } from 'vitest'

import { BufferGarbage } from '../../../src/lib/threads/collect-buffers.js'

const MIB = 1024 * 1024
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('the young are collected once for every 4 MB of buffers, in a later turn of the event loop', async () => {
  const collect = vi.fn()
  const garbage = new BufferGarbage(collect)

  for (let bodies = 0; bodies < 9; bodies += 1) garbage.used(MIB)
  expect(collect).not.toHaveBeenCalled()
  await turn()
  expect(collect).toHaveBeenCalledTimes(2)

  garbage.used(MIB)
  garbage.used(10 * MIB)
  await turn()
  expect(collect).toHaveBeenCalledTimes(3)
})

test('small ones do not have the young collected', async () => {
  const collect = vi.fn()
  const garbage = new BufferGarbage(collect)

  for (let bodies = 0; bodies < 3000; bodies += 1) garbage.used(6000)
  await turn()

  expect(collect).not.toHaveBeenCalled()
})

test("V8's own collection frees what is no longer used, and leaves what is", async () => {
  const garbage = new BufferGarbage()
  const kept = Buffer.alloc(MIB, 1)
  const before = process.memoryUsage().arrayBuffers
  for (let bodies = 0; bodies < 8; bodies += 1) garbage.used(Buffer.alloc(MIB).length)

  await vi.waitFor(() => {
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MIB)
  })
  expect(kept.every((byte) => byte === 1)).toBe(true)
})
