import { describe, expect, it } from 'vitest'
import { addCheckpoint, checkChain } from '../../../src/audit/audit-operations.js'
import { maintain } from '../../../src/store/ports/maintenance.js'
import { HOUR, appendAll, entry, filledTrail, seqsOf } from '../../support/filled-trail.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const START = { seq: 0, hash: '0'.repeat(64) }

describe('the trail, in either engine', () => {
  it('is searched by columns, ids and times, and read in pages in both directions', async () => {
    const store = await filledTrail(open(), 30)
    expect(await seqsOf(store, { application: 'app-2', kind: 'odd' })).toEqual([29, 23, 17, 11, 5])
    expect(await seqsOf(store, { eventId: 'event-4' })).toEqual([4])
    expect(await seqsOf(store, { eventId: 'event-4', kind: 'odd' })).toEqual([])
    expect(await seqsOf(store, { fromMs: HOUR + 5, toMs: HOUR + 9 })).toEqual([8, 7, 6, 5])
    for (const order of ['newest_first', 'oldest_first'] as const) {
      const query = { filter: { application: 'app-1' }, order, limit: 4 }
      const page = await store.lookups.audit.page(query)
      const { timeMs = 0, seq = 0 } = page.at(-1) ?? {}
      const next = await store.lookups.audit.page({ ...query, after: { timeMs, seq } })
      const all = await store.lookups.audit.page({ ...query, limit: 8 })
      expect([...page, ...next]).toEqual(all)
      expect(all).toHaveLength(8)
    }
    await maintain(store.maintenance, 'search')
    expect(await store.lookups.audit.applications(10)).toEqual(['app-0', 'app-1', 'app-2'])
  })

  it('finds bodies by words and their beginnings, without case and accents', async () => {
    const store = await filledTrail(open(), 20)
    await maintain(store.maintenance, 'search')
    const words = async (...given: string[]): Promise<number[]> => {
      const { records } = await store.lookups.audit.textPage({ filter: {}, words: given, limit: 50 })
      return records.map(({ seq }) => seq)
    }
    expect(await words('number', '7')).toEqual([7])
    expect(await words('zurich')).toHaveLength(20)
    expect(await words('ZÜR*', '19')).toEqual([19])
    expect(await words('zur')).toEqual([])
    const [body] = await store.lookups.audit.bodies([7])
    expect(Buffer.from(body ?? []).toString()).toContain('Zürich')
  })

  it('keeps an event once, within a batch and after it, and links all records', async () => {
    const store = await open()
    const kept = await store.writer.run(appendAll, [entry(1), entry(2), entry(1)])
    expect(kept).toEqual([1, 2, 1])
    expect(await store.writer.run(appendAll, [entry(2), entry(3)])).toEqual([2, 3])
    const check = await store.reader.run(checkChain, { from: START, limit: 100, links: [2] })
    expect(check).toMatchObject({ checked: 3, end: await store.lookups.audit.end(), broken: undefined })
    const second = await store.lookups.audit.find(2)
    expect(check.links).toEqual([{ seq: 2, hash: second?.hash }])
    // From a link in the middle on.
    const rest = { from: { seq: 2, hash: second?.hash ?? '' }, limit: 100, links: [] }
    expect(await store.reader.run(checkChain, rest)).toMatchObject({ checked: 1, end: check.end })
  })

  it('takes checkpoints of links that it has, and no others', async () => {
    const store = await filledTrail(open(), 3)
    const { hash = '' } = (await store.lookups.audit.find(2)) ?? {}
    const checkpoint = { seq: 2, hash, atMs: 1, reason: 'request' } as const
    await store.writer.run(addCheckpoint, checkpoint)
    expect(await store.lookups.audit.lastCheckpoint()).toMatchObject(checkpoint)
    for (const wrong of [
      { ...checkpoint, hash: 'f'.repeat(64) },
      { ...checkpoint, seq: 9 },
    ]) {
      await expect(store.writer.run(addCheckpoint, wrong)).rejects.toMatchObject({ kind: 'conflict' })
    }
    expect(await store.lookups.audit.checkpoints(0)).toHaveLength(1)
  })

  it('says how large it is', async () => {
    const store = await filledTrail(open(), 5)
    const { firstSeq, endSeq, bytes } = await store.lookups.audit.size()
    expect([firstSeq, endSeq]).toEqual([1, 5])
    expect(bytes).toBeGreaterThan(1000)
  })
})
