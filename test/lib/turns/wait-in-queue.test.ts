import PQueue from 'p-queue'
import { expect, test } from 'vitest'

import { waitInQueue } from '../../../src/lib/turns/wait-in-queue.js'

const NEVER = new AbortController().signal

/** Work that ends on request. */
function work(): { readonly make: () => Promise<string>; readonly end: () => void } {
  let end = (): void => undefined
  const ended = new Promise<string>((resolve) => (end = () => resolve('done')))
  return { make: () => ended, end: () => end() }
}

test('a caller that gives up receives the reason, and its work does not start', async () => {
  const queue = new PQueue({ concurrency: 1 })
  const [first, patience] = [work(), new AbortController()]
  const begun = waitInQueue(queue, first.make, NEVER)
  let isBegun = false
  const waiting = waitInQueue(queue, () => Promise.resolve((isBegun = true)), patience.signal)
  patience.abort(new Error('too long'))
  await expect(waiting).rejects.toThrow('too long')
  first.end()
  expect(await begun).toBe('done')
  expect(await waitInQueue(queue, () => Promise.resolve('next'), NEVER)).toBe('next')
  expect(isBegun).toBe(false)
})

test('a caller that has given up before does not wait', async () => {
  const patience = AbortSignal.abort(new Error('gone'))
  await expect(waitInQueue(new PQueue(), () => Promise.resolve(1), patience)).rejects.toThrow('gone')
})

test('started work continues and keeps its slot when its caller gives up', async () => {
  const queue = new PQueue({ concurrency: 1 })
  const [first, patience] = [work(), new AbortController()]
  const begun = waitInQueue(queue, first.make, patience.signal)
  patience.abort(new Error('too long'))
  expect(queue.pending).toBe(1)
  first.end()
  expect(await begun).toBe('done')
})
