import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { maintain } from '../../src/store/ports/maintenance.js'
import { appendAll, entries, entry, filledTrail, retain } from '../support/filled-trail.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const open = useServiceStore()

async function found(store: TestStore): Promise<number> {
  const { records } = await store.lookups.audit.textPage({ filter: {}, words: ['number'], limit: 1000 })
  return records.length
}

describe('the maintenance of a store', () => {
  it('makes all records found by free text, in steps that each say whether more is due', async () => {
    const store = await filledTrail(open(), 100)
    expect(await store.lookups.audit.unindexed()).toBe(100)
    expect(await store.maintenance.step('search')).toBe(true)
    await maintain(store.maintenance, 'search')
    expect(await store.lookups.audit.unindexed()).toBe(0)
    expect(await found(store)).toBe(100)
    expect(await store.maintenance.step('search')).toBe(false)
  })

  it('finds what is kept after all was done', async () => {
    const store = await filledTrail(open(), 10)
    await maintain(store.maintenance, 'search')
    await store.writer.run(appendAll, [entry(11)])
    await maintain(store.maintenance, 'search')
    expect(await found(store)).toBe(11)
  })

  it('takes no further step once it is to stop', async () => {
    const store = await filledTrail(open(), 10)
    await maintain(store.maintenance, 'search', AbortSignal.abort())
    expect(await store.lookups.audit.unindexed()).toBe(10)
    const stopping = new AbortController()
    const maintenance: TestStore['maintenance'] = {
      step: (task) => {
        stopping.abort()
        return store.maintenance.step(task)
      },
    }
    await store.writer.run(appendAll, entries(300).slice(10))
    await maintain(maintenance, 'search', stopping.signal)
    expect(await store.lookups.audit.unindexed()).toBeGreaterThan(0)
  })

  it('gives back what deleted records have left, and has nothing to give back without any', async () => {
    const store = await open()
    expect(await store.maintenance.step('space')).toBe(false)
    const body = (index: number): Buffer => Buffer.from(JSON.stringify({ noise: noise(index) }))
    for (let index = 1; index <= 400; index += 1) {
      await store.writer.run(appendAll, [entry(index, { body: body(index) })])
    }
    const { bytes } = await store.lookups.audit.size()
    await store.writer.run(retain, await store.lookups.audit.end())
    expect((await store.lookups.audit.size()).bytes).toBeLessThan(bytes / 4)
    expect(await store.maintenance.step('space')).toBe(true)
    await maintain(store.maintenance, 'space')
    await store.close()
    expect(statSync(join(store.dataDir, 'tidegate.db')).size).toBeLessThan(bytes / 4)
  })
})

/** 16 KB that no compression makes small. */
function noise(seed: number): string {
  let text = ''
  for (let state = seed; text.length < 16_000;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text
}
