import { describe, expect, it } from 'vitest'
import { indexText, mergeText } from '../../src/audit/audit-operations.js'
import { TrailIndexer } from '../../src/audit/trail-indexer.js'
import type { WriteOperation, Writer } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()

const append: WriteOperation<number, null> = {
  name: 'test.append',
  apply: async ({ audit }, count) => {
    const body = Buffer.from('{"word":"here"}')
    for (let index = 0; index < count; index += 1) {
      await audit.append({ timeMs: index, source: 'event', kind: 'k', body })
    }
    return null
  },
}

describe('the index of the trail', () => {
  it('has everything after one look at a quiet service, however far behind it was', async () => {
    const store = await open()
    const indexer = new TrailIndexer({ writer: store.writer, progress: () => store.lookups.audit.progress() })
    await store.writer.run(append, 5000)
    await indexer.catchUp()
    expect(await store.lookups.audit.progress()).toMatchObject({
      columnsSeq: 5000,
      textSeq: 5000,
      endSeq: 5000,
    })
  })

  it('leaves free text for later while many records arrive, and has it when they cease', async () => {
    const store = await open()
    const indexer = new TrailIndexer({ writer: store.writer, progress: () => store.lookups.audit.progress() })
    await store.writer.run(append, 10)
    await indexer.catchUp()
    await store.writer.run(append, 5000)
    await indexer.catchUp()
    const busy = await store.lookups.audit.progress()
    expect(busy.columnsSeq).toBeGreaterThanOrEqual(4000)
    expect(busy.textSeq).toBeLessThan(5010)
    await indexer.catchUp()
    expect(await store.lookups.audit.progress()).toMatchObject({ columnsSeq: 5010, textSeq: 5010 })
  })

  it('joins the parts of the index of free text in steps of its own until none is left to join', async () => {
    const store = await open()
    const steps: string[] = []
    const writer: Writer = {
      run: (operation, args) => {
        steps.push(operation.name)
        return store.writer.run(operation, args)
      },
    }
    const indexer = new TrailIndexer({ writer, progress: () => store.lookups.audit.progress() })
    await store.writer.run(append, 1000)
    await indexer.catchUp()
    expect(steps.filter((name) => name === mergeText.name).length).toBeGreaterThanOrEqual(
      steps.filter((name) => name === indexText.name).length,
    )
    expect(await store.writer.run(mergeText, { pages: 16 })).toBe(false)
  })

  it('goes on after a restart where it was', async () => {
    const store = await open()
    await store.writer.run(append, 300)
    await store.close()
    const again = await open(store.dataDir)
    const indexer = new TrailIndexer({ writer: again.writer, progress: () => again.lookups.audit.progress() })
    await indexer.catchUp()
    const { records } = await again.lookups.audit.textPage({ filter: {}, words: ['here'], limit: 500 })
    expect(records).toHaveLength(300)
  })
})
