import { describe, expect, test } from 'vitest'

import { acknowledgeInstance } from '../../src/gates/reviewing/acknowledge.js'
import { makeAcknowledgeStatus } from '../../src/gates/reviewing/acknowledge.js'
import { cancelForOrchestrator } from '../../src/gates/reviewing/cancel-for-orchestrator.js'
import { saveGateChanges } from '../../src/gates/definitions/declare-gates.js'
import { reserveInstance } from '../../src/gates/triggering/reserve-instance.js'
import { reviewInstance } from '../../src/gates/reviewing/review-instance.js'
import { triggerGate } from '../../src/gates/triggering/trigger-gate.js'
import { recordAttempt } from '../../src/outbox/outbox-operations.js'
import type { ServiceStore } from '../../src/store/ports/service-store.js'
import type { WriteOperation, Writer } from '../../src/store/ports/transaction.js'
import { NOW_MS, makeGate, makeInstance, makeTrigger, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const open = useServiceStore()
const SECOND_MS = 1000
const MINUTE_MS = 60_000
const actor = { user: 'orca', origin: 'test', nowMs: NOW_MS + 2 * SECOND_MS }

type Step = (store: ServiceStore) => Promise<unknown>

const decide =
  (action: 'approve' | 'reject'): Step =>
  ({ writer }) => {
    const attempt = { person: 'bo', action, comment: 'words', groups: [], timeMs: NOW_MS + SECOND_MS }
    return writer.run(reviewInstance, { instanceId: 1, attempt, origin: undefined })
  }
const askForStatus: Step = ({ writer }) =>
  writer.run(acknowledgeInstance, { instanceId: 1, nowMs: NOW_MS + SECOND_MS })
const cancel: Step = ({ writer }) => writer.run(cancelForOrchestrator, { instanceId: 1, comment: '', actor })
const settleCallback =
  (state: 'delivered' | 'given_up'): Step =>
  ({ writer }) => {
    const progress = { id: 1, state, attempts: 1, nextAttemptMs: NOW_MS, settledMs: NOW_MS }
    return writer.run(recordAttempt, { progress, entry: undefined })
  }

/** Repeats a trigger some time after the first one, with something in between. */
async function triggerAgain(steps: readonly Step[], afterMs: number) {
  const store = await open()
  await triggered(store.writer)
  for (const step of steps) await step(store)
  return await store.writer.run(triggerGate, makeTrigger({ actor: { ...actor, nowMs: NOW_MS + afterMs } }))
}

describe('the same trigger once more is the same request, whose answer was lost,', () => {
  test.each([
    ['while nobody has decided', [], 30 * MINUTE_MS, 'activated'],
    ['while nobody has decided, though it was asked after', [askForStatus], 30 * MINUTE_MS, 'activated'],
    ['right after a decision that nobody was told of', [decide('approve')], 3 * SECOND_MS, 'approved'],
    ['within two minutes of the first', [decide('reject')], 2 * MINUTE_MS - 1, 'rejected'],
    ['when no callback came through', [decide('approve'), settleCallback('given_up')], 9000, 'approved'],
  ] as const)('%s', async (_, steps, afterMs, state) => {
    expect(await triggerAgain(steps, afterMs)).toMatchObject({ isNew: false, instance: { id: 1, state } })
  })
})

describe('the same trigger once more is a stage that was started again', () => {
  test.each([
    ['once its rejection was asked after', [decide('reject'), askForStatus], 3 * SECOND_MS],
    ['once its approval was asked after', [decide('approve'), askForStatus], 3 * SECOND_MS],
    ['though it was asked after only before the decision', [askForStatus, decide('reject')], 3 * SECOND_MS],
    ['once the orchestrator was called back', [decide('reject'), settleCallback('delivered')], 3 * SECOND_MS],
    ['once the orchestrator has cancelled it', [cancel], 3 * SECOND_MS],
    ['once the orchestrator has cancelled what was decided', [decide('approve'), cancel], 3 * SECOND_MS],
    ['two minutes after the first', [decide('approve')], 2 * MINUTE_MS],
    ['once the clock was set back by an hour', [decide('approve')], -60 * MINUTE_MS],
    ['when its time is over, whether or not that has been written down', [], 60 * MINUTE_MS],
  ] as const)('%s', async (_, steps, afterMs) => {
    const again = await triggerAgain(steps, afterMs)
    expect(again).toMatchObject({ isNew: true, instance: { id: 2, state: 'activated', comment: '' } })
  })
})

test('the number of a reserved instance was known before, so that asking for it tells nothing about the trigger', async () => {
  const { writer, lookups } = await open()
  await writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate() }])
  await writer.run(reserveInstance, { gateId: 7, executionId: '01J', actor })
  await writer.run(acknowledgeInstance, { instanceId: 1, nowMs: NOW_MS })
  expect(await lookups.gates.findInstance(1)).toMatchObject({ acknowledgedMs: undefined })
})

describe('keeping that an instance was asked after', () => {
  const notExpected = ({ message }: Error) => expect.unreachable(message)
  const raise: WriteOperation<never, never>['apply'] = () => Promise.reject(new Error('the disk is full'))

  test('happens once, however often it is asked after', async () => {
    const { writer, lookups } = await open()
    const instance = await triggered(writer)
    const acknowledge = makeAcknowledgeStatus({ writer, failed: notExpected })
    await Promise.all([1, 2, 3].map((second) => acknowledge(instance, NOW_MS + second)))
    await writer.run(acknowledgeInstance, { instanceId: 1, nowMs: NOW_MS + 9 })
    expect(await lookups.gates.findInstance(1)).toMatchObject({ acknowledgedMs: NOW_MS + 1 })
  })

  test.each([
    ['waits where the instance has ended', 'approved', true],
    ['waits for nothing while it is open', 'activated', false],
  ] as const)('%s', async (_, state, waits) => {
    const { writer, lookups } = await open()
    await triggered(writer)
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const slow: Writer = { run: (operation, args) => held.then(() => writer.run(operation, args)) }
    let isAnswered = false
    const acknowledge = makeAcknowledgeStatus({ writer: slow, failed: notExpected })
    const answering = acknowledge(makeInstance({ state }), NOW_MS).then(() => (isAnswered = true))
    await new Promise(setImmediate)
    expect(isAnswered).toBe(!waits)
    release()
    await answering
    await expect.poll(async () => (await lookups.gates.findInstance(1))?.acknowledgedMs).toBeDefined()
  })

  test('lets the status be answered where it fails, and is tried again', async () => {
    const problems: string[] = []
    const acknowledge = makeAcknowledgeStatus({
      writer: { run: () => raise(undefined as never, undefined as never) },
      failed: (error, id) => problems.push(`${id}: ${error.message}`),
    })
    await acknowledge(makeInstance({ state: 'approved' }), NOW_MS)
    await acknowledge(makeInstance({ state: 'approved' }), NOW_MS)
    expect(problems).toHaveLength(2)
  })
})
