import { join } from 'node:path'

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import type { TriggerRequest } from '../../src/gates/triggering/trigger-gate.js'
import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { makeGate, triggered } from '../support/gates.js'
import { ask, objectOf } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'
import { SERVICE_OPERATIONS } from '../support/store-operations.js'

const GATE = { id: 7, name: 'Release', application: 'shop', timeToLiveMinutes: 60 }
const HOUR_MS = 3_600_000

let receiver: CallbackReceiver
let workspace: Workspace
let tidegate: TidegateProcess | undefined
beforeAll(async () => {
  receiver = await startReceiver()
})
afterEach(async () => {
  await tidegate?.end('SIGTERM')
  workspace.remove()
})
afterAll(() => receiver.close())

/** The service, started on a store in which one instance has been triggered before. */
async function startAfterwards(
  policy: string | undefined,
  more: Partial<TriggerRequest>,
): Promise<TidegateProcess> {
  workspace = makeWorkspace()
  const policies =
    'package release.approval\n\nimport rego.v1\n\ndeny contains "not today" if input.gate.id == 7\n'
  workspace.write({ 'policies/approval.rego': policies })
  const { writer, close } = await openServiceStore({
    dataDir: join(workspace.path, 'data'),
    operations: SERVICE_OPERATIONS,
  })
  const urls = { approvalCallbackUrl: `${receiver.url}/yes`, rejectionCallbackUrl: `${receiver.url}/no` }
  await triggered(writer, makeGate({ policy }), { ...urls, ...more })
  await close()
  tidegate = await startTidegate({
    workspace,
    config: { callbacks: { allowLoopback: true }, gates: { definitions: [{ ...GATE, policy }] } },
  })
  return tidegate
}

const callbackOf = (executionId: string) =>
  waitUntil(
    () => receiver.received.find(({ body }) => body['executionId'] === executionId),
    () => `no callback came: ${tidegate?.logText() ?? ''}`,
  )

test('an instance whose time ran out while no process was there expires and calls back', async () => {
  const actor = { user: 'ci', origin: 'test', nowMs: Date.now() - 2 * HOUR_MS }
  const { url } = await startAfterwards(undefined, { executionId: 'late', actor })
  expect(await callbackOf('late')).toMatchObject({
    path: '/no',
    body: { outcome: 'expired', status: 'rejected' },
  })
  const status = objectOf(await ask(url, { path: '/approvalGateInstances/1/status' }))
  expect(status).toEqual({ status: 'rejected', comment: expect.stringMatching(/^expired: /) as string })
})

test('an instance whose policy was not evaluated before the end is decided after the start', async () => {
  const actor = { user: 'ci', origin: 'test', nowMs: Date.now() }
  await startAfterwards('release/approval', { executionId: 'undecided', actor })
  expect(await callbackOf('undecided')).toMatchObject({
    path: '/no',
    body: { outcome: 'rejected', comment: 'not today', decidedBy: 'policy:release/approval' },
  })
})
