import { expect, test, vi } from 'vitest'

import { onDemand } from '../../src/lib/on-demand.js'

test('is made once at the first call, for all callers', async () => {
  const make = vi.fn(() => Promise.resolve({}))
  const get = onDemand(make)
  expect(make).not.toHaveBeenCalled()
  const [first, second] = await Promise.all([get(), get()])
  expect(await get()).toBe(first)
  expect(second).toBe(first)
  expect(make).toHaveBeenCalledOnce()
})

test('is made again at the next call after a failure', async () => {
  const make = vi.fn(() => Promise.resolve('made')).mockRejectedValueOnce(new Error('not now'))
  const get = onDemand(make)
  await expect(get()).rejects.toThrow('not now')
  expect(await get()).toBe('made')
})
