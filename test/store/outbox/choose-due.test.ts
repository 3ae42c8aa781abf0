import { describe, expect, test } from 'vitest'

import { chooseDue } from '../../../src/store/outbox/choose-due.js'
import { leaseMessages } from '../../../src/outbox/outbox-operations.js'
import type { OutboxMessage } from '../../../src/store/ports/outbox-store.js'
import type { WriteOperation } from '../../../src/store/ports/transaction.js'
import { useServiceStore } from '../../support/service-store.js'

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')
const open = useServiceStore()

const enqueueAll: WriteOperation<readonly OutboxMessage[], void> = {
  name: 'test.enqueue-all',
  apply: async ({ outbox }, messages) => {
    for (const message of messages) await outbox.enqueue(message)
  },
}

describe('which messages are sent first', () => {
  const due = (receiver: string, id: number, dueMs = id) => ({ id, receiver, dueMs })

  test.each([
    {
      name: 'what has been due the longest, whatever its receiver is called',
      messages: [due('a', 1, 30), due('b', 2, 20), due('c', 3, 10)],
      underWay: {},
      limit: 2,
      chosen: [3, 2],
    },
    {
      name: 'the lower number where two are due since the same moment',
      messages: [due('b', 2, 10), due('a', 1, 10)],
      underWay: {},
      limit: 1,
      chosen: [1],
    },
    {
      name: 'one for each receiver before a second for any',
      messages: [due('a', 1), due('a', 2), due('a', 3), due('b', 4), due('c', 5)],
      underWay: {},
      limit: 4,
      chosen: [1, 4, 5, 2],
    },
    {
      name: 'the receiver with the fewest under way',
      messages: [due('a', 1), due('b', 2), due('b', 3)],
      underWay: { a: 2, b: 1 },
      limit: 2,
      chosen: [2, 1],
    },
    { name: 'nothing where nothing is due', messages: [], underWay: { a: 1 }, limit: 4, chosen: [] },
  ])('$name', ({ messages, underWay, limit, chosen }) => {
    expect(chooseDue(messages, underWay, limit)).toEqual(chosen)
  })
})

test('with room for few, the store gives out the oldest of each receiver and not the first by name', async () => {
  const { writer } = await open()
  const message = (host: string, createdMs: number): OutboxMessage => ({
    topic: 'gate.callback',
    url: `http://${host}.example/done`,
    body: '{}',
    createdMs,
  })
  await writer.run(enqueueAll, [
    message('alpha', NOW_MS + 3),
    message('alpha', NOW_MS + 4),
    message('middle', NOW_MS + 2),
    message('zulu', NOW_MS),
    message('zulu', NOW_MS + 1),
    message('later', NOW_MS + 500),
  ])
  const lease = (limit: number) =>
    writer.run(leaseMessages, {
      nowMs: NOW_MS + 10,
      leasedUntilMs: NOW_MS + 1000,
      limit,
      limitPerReceiver: 2,
      underWay: {},
    })
  const first = await lease(4)
  expect(first.messages.map(({ receiver, createdMs }) => [receiver, createdMs - NOW_MS])).toEqual([
    ['http://zulu.example', 0],
    ['http://middle.example', 2],
    ['http://alpha.example', 3],
    ['http://zulu.example', 1],
  ])
  expect(first.nextDueMs).toBe(NOW_MS + 500)
  const second = await lease(4)
  expect(second.messages.map(({ createdMs }) => createdMs - NOW_MS)).toEqual([4])
})
