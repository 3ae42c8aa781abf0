import { expect, it } from 'vitest'

import { applyRetention } from '../../src/audit/apply-retention.js'
import type { RetentionOptions } from '../../src/audit/apply-retention.js'
import { appendAll, entry } from '../support/filled-trail.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const NOW = 1_800_000_000_000
const open = useServiceStore()

function retention({ writer, lookups, maintenance }: TestStore): RetentionOptions {
  return {
    ...{ writer, maintenance, audit: lookups.audit, signer: undefined },
    now: () => NOW,
    written: () => undefined,
    removalTime: () => NOW,
    maxAgeMs: 500,
    maxBytes: undefined,
    pause: () => Promise.resolve(),
    signal: new AbortController().signal,
  }
}

it('gives back what an earlier run freed and was ended before it could give it back', async () => {
  const store = await open()
  await store.writer.run(
    appendAll,
    Array.from({ length: 300 }, (_, index) => entry(index + 1, { user: 'ana' })),
  )
  const ending = new AbortController()
  const pause = () => Promise.resolve().then(() => ending.abort())
  const recordedMs = (await store.lookups.audit.find(300))?.recordedMs ?? 0
  const options = { ...retention(store), removalTime: () => recordedMs + 1000 }
  expect(await applyRetention({ ...options, pause, signal: ending.signal })).toBe(50)
  expect(await applyRetention(options)).toBe(250)
  const given: string[] = []
  const step = (task: string) => Promise.resolve(given.push(task) === 0)
  expect(await applyRetention({ ...options, maintenance: { step } })).toBe(0)
  expect(given).toEqual(['space'])
})
