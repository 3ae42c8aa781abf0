import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { expect, test, vi } from 'vitest'

import { startThread } from '../../../src/lib/threads/start-thread.js'
import { keepFlag } from '../../../src/lib/threads/v8-flags.js'

vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }))

const thread = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const lastFlag = (): string | undefined => vi.mocked(setFlagsFromString).mock.lastCall?.[0]

test('a thread is started with the flags as usual, which are as they were kept again once it runs', async () => {
  keepFlag('heap-growing-percent', 200)
  const started = startThread(thread(''), {})
  expect(lastFlag()).toBe('--heap-growing-percent=0')

  await once(started, 'online')
  expect(lastFlag()).toBe('--heap-growing-percent=200')
})

test('they are so too once a thread has ended that never ran', async () => {
  const started = startThread(thread(''), {})
  expect(lastFlag()).toBe('--heap-growing-percent=0')

  await started.terminate()
  expect(lastFlag()).toBe('--heap-growing-percent=200')
})
