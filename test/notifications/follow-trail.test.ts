import { describe, expect, it } from 'vitest'
import type { NotificationRule } from '../../src/notifications/notice.js'
import { followTrail } from '../../src/notifications/follow-trail.js'
import { listMessages } from '../../src/outbox/outbox-operations.js'
import type { AuditEntry } from '../../src/store/ports/audit-store.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const openStore = useServiceStore()
const signal = new AbortController().signal
const RULES: readonly NotificationRule[] = [
  { channel: 'ops', events: ['policy.denied', 'exception.expiring', 'gate.activated'] },
]

const append: WriteOperation<readonly AuditEntry[], void> = {
  name: 'test.append',
  apply: async ({ audit }, entries) => {
    for (const entry of entries) await audit.append(entry)
  },
}

function record(kind: string, source: AuditEntry['source'], body: object, status?: string): AuditEntry {
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  return { timeMs: Date.now(), source, kind, application: 'shop', status, body: bytes }
}
const denial = () =>
  record('policy.decision', 'policy', { decisionId: 'd1', path: 'app/deny', result: ['no'] }, 'deny')

function open(store: TestStore, type: 'slack' | 'mail' = 'slack') {
  const clock = { nowMs: store.now() }
  const options = {
    ...{ reader: store.reader, writer: store.writer, lookups: store.lookups, rules: RULES },
    channels: new Map([['ops', { type, to: ['a@example.org', 'b@example.org'] }]]),
    ...{ denials: { collectMs: 1000, intervalMs: 10_000 }, publicUrl: undefined, maxAgeMs: 3_600_000 },
    now: () => clock.nowMs,
  }
  return {
    clock,
    follow: () => followTrail(options, signal),
    messages: () => store.reader.run(listMessages, { limit: 100 }),
  }
}

describe('notifications about the trail', () => {
  it('start with the records after they were configured', async () => {
    const store = await openStore()
    await store.writer.run(append, [record('exception.expiring', 'policy', { exception: 1 })])
    const { follow, messages } = open(store)
    expect(await follow()).toBe(0)
    await store.writer.run(append, [record('exception.expiring', 'policy', { exception: 2, package: 'p' })])
    expect(await follow()).toBe(1)
    expect(await follow()).toBe(0)
    expect(await messages()).toMatchObject([
      { topic: 'notification', url: 'notification:ops', subject: 'notification:exception:2' },
    ])
  })

  it('count the denials of many records in one message', async () => {
    const store = await openStore()
    const { follow, messages, clock } = open(store)
    await follow()
    for (let batch = 0; batch < 5; batch++) await store.writer.run(append, Array.from({ length: 90 }, denial))
    expect(await follow()).toBe(0)
    clock.nowMs += 1000
    expect(await follow()).toBe(1)
    expect((await messages())[0]?.body).toContain('450 denials in shop')
  })

  it('are one mail for each recipient', async () => {
    const store = await openStore()
    const { follow, messages } = open(store, 'mail')
    await follow()
    await store.writer.run(append, [record('exception.expiring', 'policy', { exception: 2 })])
    expect(await follow()).toBe(2)
    expect(await messages()).toHaveLength(2)
  })

  it('ignore events that clients name like records of Tidegate, and bodies that are no objects', async () => {
    const store = await openStore()
    const { follow } = open(store)
    await follow()
    await store.writer.run(append, [
      record('exception.expiring', 'event', { exception: 3 }),
      record('gate.activated', 'event', { instance: 1 }),
      record('gate.activated', 'gate', { instance: 4711 }),
      record('exception.expiring', 'policy', [1]),
    ])
    expect(await follow()).toBe(0)
  })

  it('are enqueued once by two services that follow at the same time', async () => {
    const store = await openStore()
    const [one, other] = [open(store), open(store)]
    await one.follow()
    await store.writer.run(append, [record('exception.expiring', 'policy', { exception: 2 })])
    const results = await Promise.allSettled([one.follow(), other.follow()])
    expect(results.some(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await one.messages()).toHaveLength(1)
  })
})
