import { createHash } from 'node:crypto'

import { describe, expect, test } from 'vitest'

import { cancelForOrchestrator } from '../../../src/gates/reviewing/cancel-for-orchestrator.js'
import {
  changeGate,
  compareGates,
  createGate,
  removeGate,
  saveGateChanges,
} from '../../../src/gates/definitions/declare-gates.js'
import { expireInstances } from '../../../src/gates/instances/expire-instances.js'
import { keepEvidence } from '../../../src/gates/work/keep-evidence.js'
import { reserveInstance } from '../../../src/gates/triggering/reserve-instance.js'
import { reviewInstance } from '../../../src/gates/reviewing/review-instance.js'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import { DEFINITION, NOW_MS, makeGate, makeTrigger, trail, triggered } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const HOUR_MS = 3_600_000
const actor = { user: 'ops', origin: 'test', nowMs: NOW_MS }

const review = (person: string, action: 'approve' | 'reject' | 'cancel' = 'approve', timeMs = NOW_MS) => ({
  instanceId: 1,
  attempt: { person, action, comment: 'words', groups: [], timeMs },
  origin: '10.0.0.1',
})

const callbacks = (store: ServiceStore) => store.lookups.outbox.list({ limit: 100 })

describe('triggering a gate', () => {
  test('activates an instance and writes down who asked for what', async () => {
    const store = await open()
    const instance = await triggered(store.writer)
    expect(instance).toMatchObject({
      id: 1,
      state: 'activated',
      expiresMs: NOW_MS + HOUR_MS,
      triggeredBy: 'ana',
    })
    expect(await store.lookups.gates.findInstance(1)).toEqual(instance)
    const [, record] = await trail(store)
    expect(record).toMatchObject({
      kind: 'gate.activated',
      source: 'gate',
      application: 'shop',
      executionId: '01J',
      user: 'ci',
      origin: 'test',
      body: { instance: 1, gate: 7, approvalCallbackUrl: 'http://receiver.example/approved' },
    })
  })

  test('again with the same body gives the same instance and no second record', async () => {
    const store = await open()
    await triggered(store.writer)
    const again = await store.writer.run(triggerGate, makeTrigger())
    expect(again).toMatchObject({ isNew: false, instance: { id: 1 } })
    expect(await trail(store)).toHaveLength(2)
  })

  test('at the same moment, twice, gives one instance', async () => {
    const store = await open()
    await store.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate() }])
    const both = await Promise.all([1, 2].map(() => store.writer.run(triggerGate, makeTrigger())))
    expect(both.map(({ instance }) => instance.id)).toEqual([1, 1])
  })

  test.each([
    ['another execution', { executionId: '02K' }],
    ['another body', { body: '{"executionId":"01J","x":1}' }],
  ])('with %s gives another instance', async (_, more) => {
    const store = await open()
    await triggered(store.writer)
    const other = await store.writer.run(triggerGate, makeTrigger(more))
    expect(other).toMatchObject({ isNew: true, instance: { id: 2 } })
  })

  test('activates the instance that was reserved for the execution', async () => {
    const store = await open()
    await store.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate() }])
    const request = { gateId: 7, executionId: '01J', actor }
    const reserved = await store.writer.run(reserveInstance, request)
    expect(reserved).toMatchObject({ id: 1, state: 'not_activated' })
    expect(await store.writer.run(reserveInstance, request)).toEqual(reserved)
    const { instance } = await store.writer.run(triggerGate, makeTrigger())
    expect(instance).toMatchObject({ id: 1, state: 'activated' })
    const other = await store.writer.run(triggerGate, makeTrigger({ executionId: '02K' }))
    expect(other.instance.id).toBe(2)
  })

  test('is refused for a gate that is not there, and for one that has been removed', async () => {
    const store = await open()
    await expect(store.writer.run(triggerGate, makeTrigger())).rejects.toMatchObject({ kind: 'not_found' })
    await store.writer.run(saveGateChanges, [{ kind: 'gate.removed', gate: makeGate({ isEnabled: false }) }])
    await expect(store.writer.run(triggerGate, makeTrigger())).rejects.toMatchObject({ kind: 'conflict' })
  })
})

describe('reviewing an instance', () => {
  test.each([
    ['the name that the caller claimed, where that is all that is known', 'bo', 'bo'],
    ['for whom the bearer of a token says to act', 'bo', 'cy'],
  ])('writes down %s', async (_, person, claimedUser) => {
    const store = await open()
    await triggered(store.writer)
    await store.writer.run(reviewInstance, { ...review(person), claimedUser })
    expect((await trail(store)).at(-1)).toMatchObject({ user: person, body: { claimedUser } })
  })

  test('closes it, writes the record and leaves the callback to be sent', async () => {
    const store = await open()
    await triggered(store.writer)
    const { instance } = await store.writer.run(reviewInstance, review('bo'))
    expect(instance).toMatchObject({
      state: 'approved',
      comment: 'words',
      decidedBy: 'bo',
      decidedMs: NOW_MS,
    })
    const [message, ...others] = await callbacks(store)
    expect(others).toEqual([])
    expect(message).toMatchObject({
      topic: 'gate.callback',
      url: 'http://receiver.example/approved',
      subject: 'gate-instance:1',
      state: 'pending',
    })
    expect(JSON.parse(message?.body ?? '')).toEqual({
      approvalGateInstanceId: 1,
      approvalGateId: 7,
      gateName: 'Release',
      application: 'shop',
      executionId: '01J',
      status: 'approved',
      outcome: 'approved',
      comment: 'words',
      decidedBy: 'bo',
      decidedAt: '2026-03-01T12:00:00.000Z',
    })
    expect((await trail(store)).at(-1)).toMatchObject({
      kind: 'gate.approved',
      user: 'bo',
      origin: '10.0.0.1',
      status: 'approved',
    })
  })

  test('counts, and its record says by which evidence', async () => {
    const store = await open()
    await triggered(store.writer, makeGate({ approvals: 2 }), { requestsEvidence: true })
    await store.writer.run(keepEvidence, { instanceId: 1, evidence: '[]', outcomes: [], nowMs: NOW_MS })
    await store.writer.run(reviewInstance, review('bo'))
    const evidenceSha256 = createHash('sha256').update('[]').digest('hex')
    expect((await trail(store)).at(-1)).toMatchObject({
      kind: 'gate.reviewed',
      user: 'bo',
      body: { action: 'approve', reviewComment: 'words', approvals: 1, approvalsNeeded: 2, evidenceSha256 },
    })
  })

  test.each([
    ['reject', 'rejected', 'rejected'],
    ['cancel', 'canceled', 'canceled'],
  ] as const)('with %s calls the rejection URL', async (action, state, status) => {
    const store = await open()
    await triggered(store.writer)
    await store.writer.run(reviewInstance, review('bo', action))
    const [message] = await callbacks(store)
    expect(message?.url).toBe('http://receiver.example/rejected')
    expect(JSON.parse(message?.body ?? '')).toMatchObject({ outcome: state, status })
  })

  test('by many people at the same millisecond ends in exactly one quorum and one callback', async () => {
    const store = await open()
    await triggered(store.writer, makeGate({ approvals: 2 }))
    const people = Array.from({ length: 10 }, (_, index) => `person-${index}`)
    const answers = await Promise.all(
      people.map((person) => store.writer.run(reviewInstance, review(person))),
    )
    expect(answers.map(({ refusal }) => refusal)).toEqual([
      undefined,
      undefined,
      ...Array<string>(8).fill('closed'),
    ])
    expect(answers[1]).toMatchObject({ approvals: 2, approvalsNeeded: 2, instance: { state: 'approved' } })
    expect(await callbacks(store)).toHaveLength(1)
    expect(await store.lookups.gates.reviewsOf(1)).toHaveLength(2)
    const kinds = (await trail(store)).map(({ kind }) => kind)
    expect(kinds).toEqual(['gate.declared', 'gate.activated', 'gate.reviewed', 'gate.approved'])
  })

  test('after its time finds it expired, with the callback of a rejection', async () => {
    const store = await open()
    await triggered(store.writer)
    const late = await store.writer.run(reviewInstance, review('bo', 'approve', NOW_MS + HOUR_MS))
    expect(late).toMatchObject({ refusal: 'closed', instance: { state: 'expired' } })
    expect((await callbacks(store)).map(({ url }) => url)).toEqual(['http://receiver.example/rejected'])
  })

  test('of an unknown instance is not found', async () => {
    const { writer } = await open()
    await expect(writer.run(reviewInstance, review('bo'))).rejects.toMatchObject({ kind: 'not_found' })
  })
})

describe('the orchestrator', () => {
  test('cancels as often as it likes, with one record and one callback', async () => {
    const store = await open()
    await triggered(store.writer)
    const request = { instanceId: 1, comment: 'stopped', actor }
    const first = await store.writer.run(cancelForOrchestrator, request)
    expect(first).toMatchObject({ state: 'canceled', comment: 'stopped', decidedBy: 'orchestrator' })
    expect(await store.writer.run(cancelForOrchestrator, request)).toEqual(first)
    expect(await callbacks(store)).toHaveLength(1)
    expect(await store.writer.run(cancelForOrchestrator, { ...request, instanceId: 99 })).toBeUndefined()
  })

  test('cancels nothing whose time is over, and the trail says for whom it acts', async () => {
    const store = await open()
    const claimed = { ...actor, claimedUser: 'zed' }
    await triggered(store.writer, makeGate(), { actor: claimed })
    const late = { instanceId: 1, comment: 'stopped', actor: { ...claimed, nowMs: NOW_MS + HOUR_MS } }
    expect(await store.writer.run(cancelForOrchestrator, late)).toMatchObject({ state: 'expired' })
    const [, activated, expired] = await trail(store)
    expect(activated).toMatchObject({ kind: 'gate.activated', user: 'ops', body: { claimedUser: 'zed' } })
    expect(expired).toMatchObject({ kind: 'gate.expired', user: undefined })
    expect(await callbacks(store)).toHaveLength(1)
  })
})

describe('the clock', () => {
  test('expires what is due, after a restart too, and nothing twice', async () => {
    const first = await open()
    await triggered(first.writer)
    await first.writer.run(
      triggerGate,
      makeTrigger({ executionId: '02K', actor: { ...actor, nowMs: NOW_MS + 1 } }),
    )
    await first.close()
    const store = await open(first.dataDir)
    expect(await store.lookups.gates.nextExpiryMs()).toBe(NOW_MS + HOUR_MS)
    expect(await store.writer.run(expireInstances, { nowMs: NOW_MS + HOUR_MS, limit: 10 })).toBe(1)
    expect(await store.writer.run(expireInstances, { nowMs: NOW_MS + HOUR_MS, limit: 10 })).toBe(0)
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ state: 'expired' })
    expect(await store.lookups.gates.nextExpiryMs()).toBe(NOW_MS + HOUR_MS + 1)
    expect(await callbacks(store)).toHaveLength(1)
  })
})

describe('declaring gates', () => {
  const configured = { ...DEFINITION, id: 7 }

  test('takes the configuration over, and writes nothing when it is the same', () => {
    const kept = compareGates([], [configured], NOW_MS)
    expect(kept).toEqual([{ kind: 'gate.declared', gate: makeGate() }])
    expect(compareGates([makeGate()], [{ ...configured, pipeline: undefined }], NOW_MS + 5)).toEqual([])
  })

  test('changes what has changed and removes what is gone, but not what was made over HTTP', () => {
    const changed = compareGates([makeGate()], [{ ...configured, approvals: 2 }], NOW_MS + 5)
    expect(changed).toEqual([
      { kind: 'gate.changed', gate: makeGate({ approvals: 2, changedMs: NOW_MS + 5 }) },
    ])
    const removed = compareGates([makeGate(), makeGate({ id: 1_000_000_000, origin: 'api' })], [], NOW_MS + 5)
    expect(removed).toEqual([
      { kind: 'gate.removed', gate: makeGate({ isEnabled: false, changedMs: NOW_MS + 5 }) },
    ])
  })

  test('over HTTP gives ids that no configured gate can have', async () => {
    const { writer, lookups } = await open()
    await writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate({ id: 999_999_999 }) }])
    const definition = DEFINITION
    const first = await writer.run(createGate, { definition, actor })
    const second = await writer.run(createGate, { definition, actor })
    expect([first.id, second.id]).toEqual([1_000_000_000, 1_000_000_001])
    expect((await lookups.gates.listGates()).map(({ id }) => id)).toEqual([999_999_999, first.id, second.id])
  })

  test('over HTTP leaves the gates of the configuration alone', async () => {
    const { writer } = await open()
    await writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate() }])
    const change = { gateId: 7, definition: { ...DEFINITION, name: 'Other' }, actor }
    await expect(writer.run(changeGate, change)).rejects.toMatchObject({ kind: 'conflict' })
    await expect(writer.run(removeGate, { gateId: 7, actor })).rejects.toMatchObject({ kind: 'conflict' })
    await expect(writer.run(removeGate, { gateId: 8, actor })).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('removed over HTTP takes no new instances, and may be brought back', async () => {
    const { writer, lookups } = await open()
    const { id: gateId } = await writer.run(createGate, { definition: DEFINITION, actor })
    await writer.run(removeGate, { gateId, actor })
    await expect(writer.run(triggerGate, makeTrigger({ gateId }))).rejects.toMatchObject({ kind: 'conflict' })
    await writer.run(changeGate, { gateId, definition: DEFINITION, actor })
    expect(await lookups.gates.findGate(gateId)).toMatchObject({ isEnabled: true })
  })
})
