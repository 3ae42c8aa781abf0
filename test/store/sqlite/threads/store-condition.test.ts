import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors/app-error.js'
import { StoreCondition } from '../../../../src/store/sqlite/threads/open-service-store.js'
import { damageDatabase } from '../../../support/damage-database.js'
import { useSqliteStore } from '../../../support/service-store.js'

const MINUTE_MS = 60_000

describe('the condition of the store', () => {
  const full = new AppError('unavailable', 'no space', { code: 'store_full' })
  const damaged = new AppError('unavailable', 'damaged', { code: 'store_damaged' })

  it('is good while calls fail for reasons of their own', () => {
    const condition = new StoreCondition(() => 0)
    condition.failed(new AppError('conflict', 'no'))
    condition.failed(new Error('a fault'))
    expect(condition.problem).toBeUndefined()
  })

  it('reports a full disk until something is written', () => {
    const condition = new StoreCondition(() => 0)
    condition.failed(full)
    expect(condition.problem).toBe('no space')
    condition.wrote()
    expect(condition.problem).toBeUndefined()
  })

  it('reports a full disk for a minute when nobody tries again', () => {
    let nowMs = 0
    const condition = new StoreCondition(() => nowMs)
    condition.failed(full)
    nowMs = MINUTE_MS
    expect(condition.problem).toBe('no space')
    nowMs = MINUTE_MS + 1
    expect(condition.problem).toBeUndefined()
  })

  it('reports damage for ever, whatever else is written', () => {
    const condition = new StoreCondition(() => 0)
    condition.failed(damaged)
    condition.failed(full)
    condition.wrote()
    expect(condition.problem).toBe('damaged')
  })
})

describe('a store whose file is damaged beyond its first pages', () => {
  const open = useSqliteStore()

  it('says so to who reads, writes or looks something up, and in its condition', async () => {
    const intact = await open()
    await intact.close()
    damageDatabase(join(intact.dataDir, 'tidegate.db'), 'registry_by_key')
    const store = await open(intact.dataDir)
    try {
      expect(store.problem()).toBeUndefined()
      const message = /^(read|write to) tidegate\.db: the file is damaged.*restore it from a backup/
      const refusal = {
        kind: 'unavailable',
        code: 'store_damaged',
        message: expect.stringMatching(message) as unknown,
      }
      const lookUp = async (): Promise<unknown> => await store.lookups.registry.findApplication('shop')
      await expect(lookUp()).rejects.toMatchObject(refusal)
      expect(store.problem()).toMatch(message)
      const find = store.reader.run(
        { name: 'test.find', apply: ({ registry }, key: string) => registry.findApplication(key) },
        'shop',
      )
      await expect(find).rejects.toMatchObject(refusal)
      const write = store.writer.run(
        { name: 'test.find-to-write', apply: ({ registry }, key: string) => registry.findApplication(key) },
        'shop',
      )
      await expect(write).rejects.toMatchObject(refusal)
    } finally {
      await store.close()
    }
  })
})
