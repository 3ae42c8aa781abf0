import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../src/errors/app-error.js'
import type { DecisionKeeper } from '../../src/decisions/keep-decisions.js'
import { BufferedDecisionLog } from '../../src/decisions/buffered-decision-log.js'
import { nopDecisionLog } from '../../src/decisions/decision-log.js'
import { queryDecisions } from '../../src/decisions/query-decisions.js'
import { deleteAboveSize, deleteExpired } from '../../src/decisions/retention.js'
import { InProcessBatchWriter } from '../../src/decisions/in-process-batch-writer.js'
import { aBatch, anEntry, databaseBytes, openStore } from '../support/decisions.js'

const DAY = 24 * 60 * 60 * 1000
const MIB = 1024 * 1024
const policy = { maxAgeMs: 30 * DAY, maxBytes: 4 * MIB }

const days = (from: number, to: number, input: () => Uint8Array | undefined = () => undefined) =>
  aBatch(
    Array.from({ length: to - from }, (_, index) =>
      anEntry({ decisionId: `day${from + index}`, timeMs: (from + index) * DAY, input: input() }),
    ),
  )

async function idsIn(store: Awaited<ReturnType<typeof openStore>>): Promise<string[]> {
  const { decisions } = await queryDecisions({ store: store.reader, log: nopDecisionLog }, { limit: 500 })
  return decisions.map(({ decisionId }) => decisionId)
}

describe('retention', () => {
  it('deletes what is too old and nothing else', async () => {
    const store = await openStore()
    store.writer.insert(days(0, 40))
    expect(deleteExpired(store.writer, policy, 35 * DAY)).toBe(5)
    expect((await idsIn(store)).at(-1)).toBe('day5')
    expect(deleteExpired(store.writer, policy, 35 * DAY)).toBe(0)
  })

  it('deletes no more at once than it was allowed to', async () => {
    const store = await openStore()
    for (let batch = 0; batch < 3; batch += 1) store.writer.insert(days(0, 1000))
    expect(deleteExpired(store.writer, policy, 5000 * DAY, 2)).toBe(2048)
    expect(deleteExpired(store.writer, policy, 5000 * DAY, 2)).toBe(952)
  })

  it('deletes the oldest when they fill too much, until there is room again', async () => {
    const store = await openStore()
    const input = () => randomBytes(8000)
    for (let batch = 0; batch < 24; batch += 1)
      store.writer.insert(days(batch * 100, batch * 100 + 100, input))
    expect(store.writer.size().bytes).toBeGreaterThan(2 * policy.maxBytes)
    deleteAboveSize(store.writer, policy)
    store.writer.releaseSpace(policy.maxBytes)
    expect(databaseBytes(store.path)).toBeLessThanOrEqual(policy.maxBytes)
    expect(store.writer.size().bytes).toBeGreaterThan(policy.maxBytes / 2)
    expect((await idsIn(store))[0]).toBe('day2399')
  })

  it('leaves a store within its bounds alone', async () => {
    const store = await openStore()
    store.writer.insert(days(0, 10))
    const before = databaseBytes(store.path)
    expect(deleteAboveSize(store.writer, policy)).toBe(0)
    store.writer.releaseSpace(policy.maxBytes)
    expect(databaseBytes(store.path)).toBe(before)
    expect((await idsIn(store)).length).toBe(10)
  })
})

describe('the log over a store', () => {
  async function openLog(now = () => 0) {
    const store = await openStore()
    const writer = new InProcessBatchWriter({
      store: store.writer,
      retention: policy,
      removalTime: now,
      retentionIntervalMs: DAY,
    })
    const log = new BufferedDecisionLog({ writer, masked: false })
    onTestFinished(() => log.close())
    return { ...store, log, retain: () => writer.retain() }
  }

  it('has written on close everything that was recorded', async () => {
    const { log, path } = await openLog()
    for (let n = 0; n < 3000; n += 1) log.record(anEntry({ decisionId: `d${n}` }))
    await log.close()
    expect(log.stats()).toMatchObject({ written: 3000, bufferedRows: 0, bufferedBytes: 0 })
    const { reader } = await openStore({ path })
    expect(await reader.get('d2999')).toBeDefined()
  })

  it('stays within its size however much is recorded, and can be read meanwhile', async () => {
    const { log, path, reader } = await openLog()
    const input = Buffer.alloc(8000, 'x')
    for (let n = 0; n < 3000; n += 1) {
      log.record(anEntry({ decisionId: `d${n}`, timeMs: n, input }))
      if (n % 500 !== 499) continue
      expect((await queryDecisions({ store: reader, log }, { limit: 1 })).decisions[0]?.decisionId).toBe(
        `d${n}`,
      )
      expect(databaseBytes(path)).toBeLessThan(policy.maxBytes + 2 * MIB)
    }
    expect(log.stats()).toMatchObject({ written: 3000, dropped: { buffer_full: 0, write_failed: 0 } })
  })

  it('loses decisions, counted, before it outgrows its size because nothing can be deleted', async () => {
    const { writer: store, path } = await openStore()
    const stuck: DecisionKeeper = {
      insert: (batch) => store.insert(batch),
      deleteBefore: () => 0,
      deleteOldest: () => {
        throw new AppError('unavailable', 'cannot delete')
      },
      takeDetailRemoved: () => 0,
      releaseSpace: () => undefined,
      size: () => store.size(),
      close: () => undefined,
    }
    const writer = new InProcessBatchWriter({
      store: stuck,
      retention: policy,
      removalTime: () => 0,
      retentionIntervalMs: DAY,
    })
    const log = new BufferedDecisionLog({ writer, masked: false, bounds: { maxBufferedBytes: 64 * MIB } })
    for (let n = 0; n < 3000; n += 1) log.record(anEntry({ input: randomBytes(8000) }))
    await log.close()
    expect(databaseBytes(path)).toBeLessThan(policy.maxBytes + 2 * MIB)
    const { written, dropped } = log.stats()
    expect(dropped.write_failed).toBeGreaterThan(1000)
    expect(written + dropped.write_failed).toBe(3000)
  })

  it('deletes by age as its clock continues', async () => {
    let now = 0
    const { log, reader, retain } = await openLog(() => now)
    log.record(anEntry({ timeMs: 0 }))
    await log.flush()
    now = 31 * DAY
    retain()
    expect((await queryDecisions({ store: reader, log }, {})).decisions).toEqual([])
  })
})
