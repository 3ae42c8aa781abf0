import { expect, test, vi } from 'vitest'
import { DecisionTrail } from '../../src/audit/decision-trail.js'
import { exportTrail } from '../../src/audit/export-trail.js'
import { searchTrail } from '../../src/audit/search-trail.js'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import type { ReportedDecision } from '../../src/decisions/decision-report.js'
import { AppError } from '../../src/errors/app-error.js'
import type { AuditEntry } from '../../src/store/ports/audit-store.js'
import type { WriteOperation, Writer } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'
import { PATIENT } from '../support/wait-until.js'

const NOW_MS = Date.parse('2026-03-01T12:00:00.000Z')
const NOW = new Date(NOW_MS).toISOString()
const open = useServiceStore()

function decision(n: number, more: Partial<ReportedDecision> = {}): ReportedDecision {
  return {
    ...{ decisionId: `d${n}`, timeMs: NOW_MS + n, kind: 'runtime', path: 'runtime/window', revision: 'r1' },
    ...{ outcome: 'deny', application: 'shop', executionId: '01J', caller: 'orca', requestId: 'q-1' },
    traceId: null,
    ...{ error: null, result: '["closed at night"]', isResultCut: false },
    ...more,
  }
}

function makeTrail(writer: Writer, maxWaiting?: number) {
  const failed = vi.fn()
  const limit = maxWaiting === undefined ? {} : { maxWaiting }
  const wait = () => Promise.resolve()
  return {
    failed,
    trail: new DecisionTrail({ writer, now: () => NOW_MS, steadyNow: () => NOW_MS, wait, failed, ...limit }),
  }
}

async function opened() {
  const store = await open()
  const search = async (filter: object) =>
    [...(await searchTrail(store.reader, { filter, limit: 500 })).records].reverse()
  const textOf = async (seq: number) => {
    const record = await store.lookups.audit.find(seq)
    return Buffer.from(record?.body ?? []).toString()
  }
  const bodyOf = async (seq: number): Promise<unknown> => JSON.parse(await textOf(seq)) as unknown
  return { ...store, search, textOf, bodyOf }
}

test('records decisions that are found, exported and proven like everything else', async () => {
  const { writer, reader, search, bodyOf } = await opened()
  const { trail } = makeTrail(writer)
  trail.take({
    decisions: [decision(1), decision(2, { outcome: 'error', error: 'boom', result: null })],
    omitted: {},
  })
  await trail.settle()
  expect(trail.metrics).toEqual({ recorded: 2, omitted: {} })
  expect(await search({ source: 'policy', executionId: '01J' })).toMatchObject([
    { kind: 'policy.decision', application: 'shop', user: 'orca', status: 'deny', eventId: 'd1' },
    { kind: 'policy.decision', status: 'error', eventId: 'd2' },
  ])
  const facts = { operation: 'runtime', path: 'runtime/window', revision: 'r1', requestId: 'q-1' }
  expect(await bodyOf(1)).toEqual({
    decisionId: 'd1',
    ...facts,
    outcome: 'deny',
    result: ['closed at night'],
  })
  expect(await bodyOf(2)).toEqual({ decisionId: 'd2', ...facts, outcome: 'error', error: 'boom' })
  const chunks = []
  for await (const chunk of exportTrail(reader, { filter: {}, format: 'ndjson', withBodies: true })) {
    chunks.push(Buffer.from(chunk).toString())
  }
  expect(chunks.join('').trim().split('\n')).toHaveLength(3)
  expect(await verifyTrail({ reader })).toMatchObject({ isIntact: true })
})

test.each([
  ['cut', { isResultCut: true, result: '["closed at' }, '"resultPrefix":"[\\"closed at"'],
  ['no JSON since a number was masked', { result: '[[masked]]x' }, '"resultPrefix":"[[masked]]x"'],
  ['longer than JavaScript counts', { result: '12345678901234567890' }, '"result":12345678901234567890'],
])('keeps a result that is %s', async (_, more, kept) => {
  const { writer, textOf } = await opened()
  const { trail } = makeTrail(writer)
  trail.take({ decisions: [decision(1, more)], omitted: {} })
  await trail.settle()
  expect(await textOf(1)).toContain(kept)
})

test('keeps a decision whose id an event has taken', async () => {
  const { writer, search } = await opened()
  const event: AuditEntry = { timeMs: 1, source: 'event', kind: 'k', eventId: 'd1', body: Buffer.from('{}') }
  const append: WriteOperation<AuditEntry, unknown> = {
    name: 'test.append',
    apply: ({ audit }, entry) => audit.append(entry),
  }
  await writer.run(append, event)
  const { trail } = makeTrail(writer)
  trail.take({ decisions: [decision(1)], omitted: {} })
  await trail.settle()
  expect(await search({ source: 'policy' })).toMatchObject([{ kind: 'policy.decision', status: 'deny' }])
})

test('says in the trail how many decisions are missing there, and why', async () => {
  const { writer, search, bodyOf } = await opened()
  const { trail } = makeTrail(writer, 3)
  trail.take({ decisions: [1, 2, 3, 4, 5].map((n) => decision(n)), omitted: { over_rate: 7 } })
  trail.take({ decisions: [], omitted: { log_full: 1, over_rate: 1 } })
  await trail.settle()
  await trail.settle()
  const [gap, ...others] = await search({ kind: 'policy.decisions_not_recorded' })
  expect([gap?.status, others]).toEqual(['11', []])
  expect(await bodyOf(gap?.seq ?? 0)).toEqual({
    count: 11,
    reasons: { over_rate: 8, too_many_waiting: 2, log_full: 1 },
    from: NOW,
    to: NOW,
  })
  expect(trail.metrics.recorded).toBe(3)
})

test('counts what cannot be written, and says so when it can again', async () => {
  const { writer, search } = await opened()
  let isFull = true
  const failing: Writer = {
    run: (operation, args) =>
      isFull ? Promise.reject(new AppError('unavailable', 'no space left')) : writer.run(operation, args),
  }
  const { trail, failed } = makeTrail(failing)
  trail.take({ decisions: [decision(1), decision(2)], omitted: {} })
  await expect(trail.settle()).rejects.toMatchObject({ kind: 'unavailable' })
  expect(failed).toHaveBeenCalledOnce()
  isFull = false
  trail.take({ decisions: [decision(3)], omitted: {} })
  await trail.settle()
  expect((await search({ source: 'policy' })).map(({ kind, status }) => [kind, status]).sort()).toEqual([
    ['policy.decision', 'deny'],
    ['policy.decisions_not_recorded', '2'],
  ])
})

test('does not touch the store when there is nothing to record', async () => {
  const run = vi.fn()
  const { trail } = makeTrail({ run })
  trail.take({ decisions: [], omitted: {} })
  await trail.settle()
  expect(run).not.toHaveBeenCalled()
})

test('leaves the writer to others for three quarters of the time while many are waiting', async () => {
  const { writer } = await opened()
  let nowMs = NOW_MS
  const slow: Writer = {
    run: (operation, args) => {
      nowMs += 10
      return writer.run(operation, args)
    },
  }
  const pauses: number[] = []
  const wait = (ms: number) => {
    pauses.push(ms)
    return Promise.resolve()
  }
  const trail = new DecisionTrail({
    writer: slow,
    now: () => NOW_MS,
    steadyNow: () => nowMs,
    wait,
    failed: vi.fn(),
  })
  trail.take({ decisions: Array.from({ length: 120 }, (_, n) => decision(n)), omitted: {} })
  await vi.waitFor(() => expect(trail.metrics.recorded).toBe(120), PATIENT)
  expect(pauses).toEqual([30, 30])
})
