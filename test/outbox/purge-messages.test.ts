import { expect, test } from 'vitest'

import { recordAttempt } from '../../src/outbox/outbox-operations.js'
import { purgeMessages } from '../../src/outbox/outbox-operations.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')
const open = useServiceStore()

const enqueueMany: WriteOperation<number, void> = {
  name: 'test.enqueue-many',
  apply: async ({ outbox }, count) => {
    const message = { topic: 'gate.callback', url: 'http://receiver.example/', body: '{}' } as const
    for (let index = 0; index < count; index++) await outbox.enqueue({ ...message, createdMs: NOW_MS })
  },
}

test('all that was settled before the time is deleted, however much, and nothing else', async () => {
  const { writer, lookups } = await open()
  await writer.run(enqueueMany, 1203)
  const settle = (id: number, settledMs: number) => {
    const progress = { id, state: 'delivered', attempts: 1, nextAttemptMs: NOW_MS, settledMs } as const
    return writer.run(recordAttempt, { progress, entry: undefined })
  }
  await Promise.all(Array.from({ length: 1202 }, (_, index) => settle(index + 1, NOW_MS + index)))
  expect(await purgeMessages({ writer, outbox: lookups.outbox }, NOW_MS + 1201)).toBe(1201)
  expect(await lookups.outbox.count()).toMatchObject({ delivered: 1, pending: 1 })
})

test('nothing is written while nothing is old enough, so that no thread starts for it', async () => {
  const { writer, lookups } = await open()
  const silent = { run: () => Promise.reject(new Error('something was written')) }
  const deps = { writer: silent, outbox: lookups.outbox }
  expect(await purgeMessages(deps, NOW_MS)).toBe(0)
  await writer.run(enqueueMany, 1)
  const progress = {
    id: 1,
    state: 'delivered',
    attempts: 1,
    nextAttemptMs: NOW_MS,
    settledMs: NOW_MS,
  } as const
  await writer.run(recordAttempt, { progress, entry: undefined })
  expect(await purgeMessages(deps, NOW_MS)).toBe(0)
  await expect(purgeMessages(deps, NOW_MS + 1)).rejects.toThrow('something was written')
})
