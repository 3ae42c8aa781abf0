import { expect, test, vi } from 'vitest'

import { onDemand } from '../../src/lib/on-demand.js'

test('is made once, when it is first asked for, for all who ask', async () => {
  const make = vi.fn(() => Promise.resolve({}))
  const get = onDemand(make)
  expect(make).not.toHaveBeenCalled()
  const [first, second] = await Promise.all([get(), get()])
  expect(await get()).toBe(first)
  expect(second).toBe(first)
  expect(make).toHaveBeenCalledOnce()
})

test('who asks after a failure has it made again', async () => {
  const make = vi.fn(() => Promise.resolve('made')).mockRejectedValueOnce(new Error('not now'))
  const get = onDemand(make)
  await expect(get()).rejects.toThrow('not now')
  expect(await get()).toBe('made')
})
