import { describe, expect, it } from 'vitest'
import { EventIntake } from '../../src/events/event-intake.js'
import type { AuditReceipt } from '../../src/store/ports/audit-store.js'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { flattened, pipelineEvent } from '../support/orchestrator-events.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'
import { SERVICE_OPERATIONS } from '../support/store-operations.js'

const open = useServiceStore()

function makeIntake({ writer }: Pick<TestStore, 'writer'>, maxWaitingBytes = 1e7): EventIntake {
  return new EventIntake({ writer, now: () => 1_800_000_000_000, maxWaitingBytes })
}

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const event = (eventId: string, more: object = {}): Buffer => bytes({ ...pipelineEvent(), eventId, ...more })

describe('events that arrive', () => {
  it('are kept with their columns, without secrets', async () => {
    const store = await open()
    const details = {
      ...(pipelineEvent()['details'] as object),
      requestHeaders: { 'X-Gitlab-Token': ['s3cr3t'] },
    }
    await makeIntake(store).take(event('a', { details }), 'echo', '10.0.0.7')
    const record = await store.lookups.audit.find(1)
    expect(record).toMatchObject({
      source: 'event',
      kind: 'orca:pipeline:failed',
      application: 'shop',
      pipeline: 'prod-rollout',
      executionId: '01J0RUN',
      user: 'ana',
      status: 'TERMINAL',
      eventId: 'a',
      origin: '10.0.0.7',
      timeMs: 1_718_000_900_000,
    })
    const text = Buffer.from(record?.body ?? []).toString()
    expect(text).toContain('[redacted]')
    expect(text).not.toContain('s3cr3t')
  })

  it('are kept once, whichever operation they come by and in whatever form, also at the same moment', async () => {
    const store = await open()
    const intake = makeIntake(store)
    const receipts = await Promise.all([
      intake.take(event('a'), 'echo', undefined),
      intake.take(bytes(flattened({ ...pipelineEvent(), eventId: 'a' })), 'audit', undefined),
      intake.take(event('b'), 'audit', undefined),
    ])
    const later = await intake.take(event('a'), 'audit', undefined)
    expect([...receipts, later].map(({ seq, isNew }) => [seq, isNew])).toEqual([
      [1, true],
      [1, false],
      [2, true],
      [1, false],
    ])
    expect(intake.metrics).toMatchObject({ kept: 2, repeated: 2, refused: 0, waitingBytes: 0 })
  })

  it('are all kept where they have no id', async () => {
    const store = await open()
    const intake = makeIntake(store)
    const body = bytes({ content: 'some text', details: 'other text' })
    const receipts = await Promise.all([1, 2].map(() => intake.take(body, 'audit', undefined)))
    expect(receipts.map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('are refused alone: those that came with them are kept', async () => {
    const store = await open()
    const intake = makeIntake(store)
    const outcomes = await Promise.allSettled([
      intake.take(event('a'), 'echo', undefined),
      intake.take(Buffer.from('{"eventId":'), 'echo', undefined),
      intake.take(bytes({ hello: 1 }), 'echo', undefined),
      intake.take(Buffer.from('['.repeat(50_000)), 'audit', undefined),
      intake.take(event('b'), 'echo', undefined),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      ...['rejected', 'rejected', 'rejected'],
      'fulfilled',
    ])
    expect(outcomes[2]).toMatchObject({
      reason: {
        kind: 'invalid',
        code: 'missing_fields',
        message: expect.stringMatching(/eventId, name/) as unknown,
      },
    })
    expect(outcomes[3]).toMatchObject({ reason: { kind: 'invalid', code: 'nested_too_deeply' } })
    expect(await store.lookups.audit.end()).toMatchObject({ seq: 2 })
  })

  it('keep a body of several megabytes whole', async () => {
    const store = await open()
    const filler = Array.from({ length: 60_000 }, (_, index) => `line ${index} of an output`)
    await makeIntake(store).take(event('a', { filler }), 'audit', undefined)
    const body = JSON.parse(Buffer.from((await store.lookups.audit.find(1))?.body ?? []).toString()) as object
    expect(body).toMatchObject({ filler })
  })

  it('are refused as unavailable while too much waits', async () => {
    const store = await open()
    const intake = makeIntake(store, 100)
    const first = intake.take(event('a'), 'echo', undefined)
    await expect(intake.take(event('b'), 'echo', undefined)).rejects.toMatchObject({ kind: 'unavailable' })
    await first
    expect(await intake.take(event('c'), 'echo', undefined)).toMatchObject({ seq: 2 })
  })
})

describe('a disk that gets full', () => {
  it('refuses events as unavailable and keeps nothing by halves', async () => {
    const { dataDir, close } = await open()
    await close()
    const store = await openServiceStore({ dataDir, maxPages: 120, operations: SERVICE_OPERATIONS })
    try {
      const intake = makeIntake({ writer: store.writer })
      const noise = (): string => Array.from({ length: 400 }, () => Math.random().toString(36)).join('')
      const outcomes: PromiseSettledResult<AuditReceipt>[] = []
      for (let index = 0; index < 100; index += 1) {
        const body = event(`event-${index}`, { noise: noise() })
        outcomes.push(...(await Promise.allSettled([intake.take(body, 'echo', undefined)])))
      }
      const kept = outcomes.filter(({ status }) => status === 'fulfilled').length
      expect(kept).toBeGreaterThan(5)
      expect(kept).toBeLessThan(100)
      expect(outcomes.at(-1)).toMatchObject({
        reason: { kind: 'unavailable', message: expect.stringMatching(/no space left/) as unknown },
      })
      const start = { seq: 0, hash: '0'.repeat(64) }
      expect(await store.lookups.audit.check(start, 1000, [])).toMatchObject({
        checked: kept,
        broken: undefined,
      })
    } finally {
      await store.close()
    }
  })
})
