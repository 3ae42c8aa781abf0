import { expect, test } from 'vitest'

import { requireInstance } from '../../../src/gates/instances/find-or-raise.js'
import { removeAllEnded, removeEnded } from '../../../src/gates/instances/remove-ended.js'
import { reviewInstance } from '../../../src/gates/reviewing/review-instance.js'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import { recordAttempt, resendMessage } from '../../../src/outbox/outbox-operations.js'
import type { InstanceEnd } from '../../../src/store/ports/gate-store.js'
import type { OutboxState } from '../../../src/store/ports/outbox-store.js'
import { NOW_MS, makeGate, makeTrigger, trail, triggered } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'

const open = useServiceStore()
const MINUTE_MS = 60_000
const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
const signal = new AbortController().signal

/**
 * A store with instances of which the first ones were decided, one per minute, and their callbacks
 * delivered.
 */
async function openWithInstances(count: number, decided: number): Promise<TestStore> {
  const store = await open()
  await triggered(store.writer, makeGate(), { executionId: 'e1' })
  const rest = Array.from({ length: count - 1 }, (_, index) => makeTrigger({ executionId: `e${index + 2}` }))
  await Promise.all(rest.map((trigger) => store.writer.run(triggerGate, trigger)))
  const ids = Array.from({ length: decided }, (_, index) => index + 1)
  await Promise.all(ids.map((id) => decide(store, id)))
  await Promise.all(ids.map((id) => settle(store, id, 'delivered')))
  return store
}

function decide({ writer }: TestStore, instanceId: number) {
  const timeMs = NOW_MS + (instanceId - 1) * MINUTE_MS
  const attempt = { person: 'bo', action: 'approve', comment: '', groups: [], timeMs } as const
  return writer.run(reviewInstance, { instanceId, attempt, origin: undefined })
}

/** The message of an instance has its number here. */
function settle({ writer }: TestStore, id: number, state: OutboxState) {
  const progress = { id, state, attempts: 1, nextAttemptMs: NOW_MS, settledMs: NOW_MS }
  return writer.run(recordAttempt, { progress, entry: undefined })
}

async function remaining({ lookups }: TestStore): Promise<number[]> {
  return (await lookups.gates.listInstances({ order: 'newest', limit: 1000 }))
    .map(({ id }) => id)
    .sort((a, b) => a - b)
}

test('what ended before the time goes with its reviews and documents, and everything else stays', async () => {
  const store = await openWithInstances(4, 3)
  const request = { beforeMs: NOW_MS + 2 * MINUTE_MS, nowMs: NOW_MS + YEAR_MS, signal }
  expect(await removeAllEnded(store.writer, request)).toBe(2)
  expect(await remaining(store)).toEqual([3, 4])
  expect(await store.lookups.gates.reviewsOf(1)).toEqual([])
  expect(await store.lookups.gates.findDocuments(1)).toEqual({ request: undefined, evidence: undefined })
  expect(await store.lookups.gates.reviewsOf(3)).toHaveLength(1)
  await expect(requireInstance(store.lookups.gates, 1)).rejects.toMatchObject({ kind: 'not_found' })
})

test('the trail says how many went, which, and from when until when they ended, and keeps what it had', async () => {
  const store = await openWithInstances(3, 3)
  const before = await trail(store)
  const nowMs = NOW_MS + YEAR_MS
  await removeAllEnded(store.writer, { beforeMs: NOW_MS + 2 * MINUTE_MS, nowMs, signal })
  const after = await trail(store)
  expect(after.slice(0, before.length)).toEqual(before)
  expect(after.slice(before.length)).toMatchObject([
    {
      kind: 'gate.instances_removed',
      timeMs: nowMs,
      origin: 'tidegate',
      body: {
        removed: 2,
        instances: [1, 2],
        endedFrom: '2026-03-01T12:00:00.000Z',
        endedUntil: '2026-03-01T12:01:00.000Z',
      },
    },
  ])
})

test.each(['pending', 'given_up'] as const)(
  'an instance whose callback is %s stays, and those after it go all the same',
  async (state) => {
    const store = await openWithInstances(3, 3)
    await store.writer.run(resendMessage, { id: 1, nowMs: NOW_MS, user: undefined, origin: undefined })
    await settle(store, 1, state)
    const beforeMs = NOW_MS + YEAR_MS
    let after: InstanceEnd | undefined
    for (let count = 0; count < 4; count++) {
      const step = { beforeMs, after, limit: 1, nowMs: beforeMs }
      after = (await store.writer.run(removeEnded, step)).last
    }
    expect(await remaining(store)).toEqual([1])
  },
)

test('an open instance stays, however old it is', async () => {
  const store = await openWithInstances(2, 0)
  await removeAllEnded(store.writer, { beforeMs: NOW_MS + YEAR_MS, nowMs: NOW_MS + YEAR_MS, signal })
  expect(await remaining(store)).toEqual([1, 2])
})

test('many go in steps, each with its record, and none starts after the signal', async () => {
  const store = await openWithInstances(250, 250)
  const request = { beforeMs: NOW_MS + YEAR_MS, nowMs: NOW_MS + YEAR_MS }
  expect(await removeAllEnded(store.writer, { ...request, signal: AbortSignal.abort() })).toBe(100)
  expect(await removeAllEnded(store.writer, { ...request, signal })).toBe(150)
  const records = (await trail(store)).filter(({ kind }) => kind === 'gate.instances_removed')
  expect(records.map(({ body }) => body['removed'])).toEqual([100, 100, 50])
  expect(await store.lookups.gates.oldestEndMs()).toBeUndefined()
})

test('an id that was removed is not given out again', async () => {
  const store = await openWithInstances(2, 2)
  await removeAllEnded(store.writer, { beforeMs: NOW_MS + YEAR_MS, nowMs: NOW_MS + YEAR_MS, signal })
  const { instance } = await store.writer.run(triggerGate, makeTrigger())
  expect(instance.id).toBe(3)
})
