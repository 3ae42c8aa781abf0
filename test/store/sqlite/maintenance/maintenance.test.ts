import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors/app-error.js'
import { maintain } from '../../../../src/store/ports/maintenance.js'
import type { Runner } from '../../../../src/store/ports/operation.js'
import type { WriteOperation } from '../../../../src/store/ports/transaction.js'
import { makeMaintenance } from '../../../../src/store/sqlite/threads/open-service-store.js'
import { indexText, mergeText } from '../../../../src/store/sqlite/maintenance/maintenance-operations.js'
import type { SqliteTransaction } from '../../../../src/store/sqlite/maintenance/sqlite-context.js'
import { useSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()

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
  it('has everything after one round at a quiet service, however far behind it was', async () => {
    const store = await open()
    await store.writer.run(append, 5000)
    await maintain(store.maintenance, 'search')
    expect(await store.lookups.maintenance.progress()).toMatchObject({
      columnsSeq: 5000,
      textSeq: 5000,
      endSeq: 5000,
    })
  })

  it('leaves free text for later while many records arrive, and has it when they cease', async () => {
    const store = await open()
    await store.writer.run(append, 10)
    await maintain(store.maintenance, 'search')
    await store.writer.run(append, 5000)
    await maintain(store.maintenance, 'search')
    const busy = await store.lookups.maintenance.progress()
    expect(busy.columnsSeq).toBeGreaterThanOrEqual(4000)
    expect(busy.textSeq).toBeLessThan(5010)
    await maintain(store.maintenance, 'search')
    expect(await store.lookups.maintenance.progress()).toMatchObject({ columnsSeq: 5010, textSeq: 5010 })
  })

  it('joins the parts of the index of free text in steps of its own until none is left to join', async () => {
    const store = await open()
    const steps: string[] = []
    const writer: Runner<SqliteTransaction> = {
      run: (operation, args) => {
        steps.push(operation.name)
        return store.writer.run(operation, args)
      },
    }
    const maintenance = makeMaintenance(writer, store.lookups.maintenance)
    await store.writer.run(append, 1000)
    await maintain(maintenance, 'search')
    expect(steps.filter((name) => name === mergeText.name).length).toBeGreaterThanOrEqual(
      steps.filter((name) => name === indexText.name).length,
    )
    expect(await store.writer.run(mergeText, { pages: 16, maxMs: 100 })).toBe(false)
  })

  it('joins no more parts in a step than there is time for', async () => {
    const store = await open()
    await store.writer.run(append, 1000)
    while ((await store.writer.run(indexText, { limit: 20, maxBytes: 1_000_000 })) > 0);
    const merge = (maxMs: number): Promise<boolean> => store.writer.run(mergeText, { pages: 10_000, maxMs })
    expect(await merge(0)).toBe(true)
    expect(await merge(60_000)).toBe(false)
  })

  it('begins another round after a step that failed', async () => {
    const store = await open()
    let failures = 1
    const writer: Runner<SqliteTransaction> = {
      run: (operation, args) =>
        operation.name === indexText.name && failures-- > 0
          ? Promise.reject(new AppError('unavailable', 'the disk is full'))
          : store.writer.run(operation, args),
    }
    const maintenance = makeMaintenance(writer, store.lookups.maintenance)
    await store.writer.run(append, 10)
    await expect(maintain(maintenance, 'search')).rejects.toThrow('the disk is full')
    await store.writer.run(append, 10)
    await maintain(maintenance, 'search')
    expect(await store.lookups.maintenance.progress()).toMatchObject({ columnsSeq: 20, textSeq: 20 })
  })

  it('continues after a restart where it was', async () => {
    const store = await open()
    await store.writer.run(append, 300)
    await store.close()
    const again = await open(store.dataDir)
    await maintain(again.maintenance, 'search')
    const { records } = await again.lookups.audit.textPage({ filter: {}, words: ['here'], limit: 500 })
    expect(records).toHaveLength(300)
  })
})
