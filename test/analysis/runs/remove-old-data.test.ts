import { describe, expect, test } from 'vitest'

import { cancelRun, recordInterval } from '../../../src/analysis/runs/analysis-operations.js'
import { packInterval } from '../../../src/analysis/runs/intervals/pack-interval.js'
import { removeOldData, removeRunData } from '../../../src/analysis/runs/remove-old-data.js'
import { showIntervalData, showIntervalReport, showRun } from '../../../src/analysis/runs/show-run.js'
import {
  MINUTE_MS,
  START_MS,
  makeIntervalReport,
  makeRunPlan,
  makeTiming,
  storeRun,
} from '../../support/analyses.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'

const DAY_MS = 24 * 60 * MINUTE_MS
const MAX_AGE_MS = 90 * DAY_MS
const LOOKS = 20
const NEVER = new AbortController().signal

const openStore = useServiceStore()

/** A run of twenty intervals, `done` of which are done. It has ended if all are. */
async function runWithIntervals(store: TestStore, intervals: number, endMs: number): Promise<number> {
  const timing = makeTiming({ lifetimeMs: LOOKS * MINUTE_MS, intervalMs: MINUTE_MS })
  const id = await storeRun(store.writer, makeRunPlan({ timing }))
  for (let interval = 1; interval <= intervals; interval += 1) {
    const isLast = interval === LOOKS
    await store.writer.run(recordInterval, {
      interval: {
        ...{
          runId: id,
          interval,
          atMs: START_MS,
          report: JSON.stringify(makeIntervalReport({ look: interval, looks: LOOKS })),
        },
        ...packInterval({ look: interval, targets: [], seenLogTemplates: [] }),
      },
      progress: {
        ...{ id, intervalsDone: interval, score: 97, verdict: 'Success', message: 'all well', errors: [] },
        ...{ state: isLast ? 'COMPLETED' : 'RUNNING', finishedMs: isLast ? endMs : undefined },
        ...{ updatedMs: endMs, nextIntervalMs: endMs },
      },
      logTemplates: [],
    })
  }
  return id
}

function remove(store: TestStore, nowMs: number, signal = NEVER): Promise<number> {
  const { writer, lookups } = store
  const now = (): number => nowMs
  const options = { writer, analysis: lookups.analysis, maxAgeMs: MAX_AGE_MS, now, removalTime: now }
  return removeOldData({ ...options, signal })
}

async function intervalsOf({ lookups }: TestStore, id: number): Promise<number> {
  return (await lookups.analysis.intervals(id)).length
}

describe('the data of an analysis', () => {
  test('are removed once it ended long enough ago, and its verdict stays', async () => {
    const store = await openStore()
    const id = await runWithIntervals(store, LOOKS, START_MS)
    expect(await remove(store, START_MS + MAX_AGE_MS)).toBe(0)
    expect(await intervalsOf(store, id)).toBe(LOOKS)

    const nowMs = START_MS + MAX_AGE_MS + 1
    expect(await remove(store, nowMs)).toBe(1)
    expect(await intervalsOf(store, id)).toBe(0)
    expect(JSON.parse(await store.reader.run(showRun, id))).toMatchObject({
      ...{ state: 'COMPLETED', verdict: 'Success', score: 97, message: 'all well', intervalsDone: LOOKS },
      ...{ intervals: [], dataRemovedAt: new Date(nowMs).toISOString() },
    })
    expect(await remove(store, nowMs + DAY_MS)).toBe(0)
  })

  test.each([
    ['data', showIntervalData, { interval: undefined, part: 'data' as const }],
    ['lines', showIntervalData, { interval: 3, part: 'lines' as const }],
  ])('say that they were removed where their %s are asked for', async (_, operation, asked) => {
    const store = await openStore()
    const id = await runWithIntervals(store, LOOKS, START_MS)
    await remove(store, START_MS + MAX_AGE_MS + 1)
    const removed = {
      kind: 'not_found',
      message: expect.stringMatching(/removed at 2026-.*analysis\.maxAgeDays/) as unknown,
    }
    await expect(store.reader.run(operation, { id, ...asked })).rejects.toMatchObject(removed)
    await expect(store.reader.run(showIntervalReport, { id, interval: 3 })).rejects.toMatchObject(removed)
  })

  test('of a run that has not ended are never removed, however old they are', async () => {
    const store = await openStore()
    const id = await runWithIntervals(store, LOOKS - 1, START_MS)
    expect(await remove(store, START_MS + 10 * MAX_AGE_MS)).toBe(0)
    expect(await store.writer.run(removeRunData, { id, nowMs: START_MS, limit: 100 })).toBe(false)
    expect(await intervalsOf(store, id)).toBe(LOOKS - 1)
  })

  test('of a cancelled run are removed as well', async () => {
    const store = await openStore()
    const id = await runWithIntervals(store, 2, START_MS)
    await store.writer.run(cancelRun, { id, actor: { nowMs: START_MS, user: 'ana', origin: 'test' } })
    expect(await remove(store, START_MS + MAX_AGE_MS + 1)).toBe(1)
    expect(await intervalsOf(store, id)).toBe(0)
  })

  test('of several runs go in the order in which those ended, each noted in the trail', async () => {
    const store = await openStore()
    const later = await runWithIntervals(store, LOOKS, START_MS + DAY_MS)
    const sooner = await runWithIntervals(store, LOOKS, START_MS)
    const young = await runWithIntervals(store, LOOKS, START_MS + 2 * DAY_MS)
    expect(await remove(store, START_MS + MAX_AGE_MS + DAY_MS + 1)).toBe(2)
    const { seq } = await store.lookups.audit.end()
    const records = await Promise.all([seq - 1, seq].map((at) => store.lookups.audit.find(at)))
    expect(records.map((record) => [record?.kind, record?.application])).toEqual([
      ['analysis.data-removed', 'shop'],
      ['analysis.data-removed', 'shop'],
    ])
    expect(await Promise.all([sooner, later, young].map((id) => intervalsOf(store, id)))).toEqual([
      0,
      0,
      LOOKS,
    ])
  })

  test('stay where the service is ending', async () => {
    const store = await openStore()
    const id = await runWithIntervals(store, LOOKS, START_MS)
    expect(await remove(store, START_MS + 2 * MAX_AGE_MS, AbortSignal.abort())).toBe(0)
    expect(await intervalsOf(store, id)).toBe(LOOKS)
  })
})
