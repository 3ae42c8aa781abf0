import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { markSoon } from '../../../src/lib/threads/mark-soon.js'
import { waitUntil } from '../../support/wait-until.js'

test('large memory that is shared with other threads, and that nothing holds any more, goes back though nothing else is done', async () => {
  let isGone = false
  const registry = new FinalizationRegistry(() => (isGone = true))
  ;(() => registry.register(new SharedArrayBuffer(64 * 1024 * 1024), undefined))()
  await sleep(0)
  const begun = performance.now()
  markSoon()
  await waitUntil(
    () => isGone || undefined,
    () => 'it is still held',
  )
  // Of a thread that has just started and rests, V8 itself looks after eight seconds.
  expect(performance.now() - begun).toBeLessThan(4000)
})
