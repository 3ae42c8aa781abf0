import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { ask, objectOf } from '../support/http-client.js'
import { PROGRAM } from '../support/project-root.js'
import { seededRandom } from '../support/random-bytes.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const ROUNDS = 50
const WORKERS = 4
/** Fifty starts take under a minute on a quiet machine; a busy one must not fail for being busy. */
const TIME_LIMIT_MS = 600_000
/**
 * How much is acknowledged before the process is killed: from its first breath to well into its
 * work.
 */
const MAX_ACKNOWLEDGED = 30

const workspace = makeWorkspace()
let receiver: CallbackReceiver
beforeAll(async () => {
  receiver = await startReceiver()
  workspace.write({ 'policies/empty.rego': 'package empty\n\ndeny := []\n' })
  // Compiled once: fifty starts must not compile it again.
  const bundle = join(workspace.path, 'bundle.tar.gz')
  execFileSync(process.execPath, [PROGRAM, 'build', join(workspace.path, 'policies'), '-o', bundle])
})
afterAll(async () => {
  await receiver.close()
  workspace.remove()
})

/** An execution that waits for its gate, and the acknowledged requests of it. */
interface Want {
  readonly executionId: string
  instanceId?: number
  isApproved?: boolean
}

const wants: Want[] = []
let acknowledged = 0

test(
  'loses no acknowledged instance, decision or callback, whenever the process is killed',
  async () => {
    const random = seededRandom(20_260_301)
    for (let round = 0; round < ROUNDS; round++) {
      const tidegate = await start()
      const killAt = acknowledged + Math.floor(random() * MAX_ACKNOWLEDGED)
      const workers = Array.from({ length: WORKERS }, (_, worker) => work(tidegate, `${round}-${worker}`))
      await waitUntil(
        () => acknowledged >= killAt || undefined,
        () => `nothing is acknowledged: ${tidegate.logText()}`,
      )
      await tidegate.end('SIGKILL')
      await Promise.all(workers)
    }
    await finish()
  },
  TIME_LIMIT_MS,
)

async function finish(): Promise<void> {
  const tidegate = await start()
  const approved = wants.filter(({ isApproved }) => isApproved)
  const triggered = wants.filter(({ instanceId }) => instanceId !== undefined)
  expect(approved.length).toBeGreaterThan(ROUNDS)
  for (const want of triggered) await expectKept(tidegate, want)
  const isCalledBack = (): boolean => {
    const told = new Set(receiver.received.map(({ body }) => body['approvalGateInstanceId']))
    return approved.every(({ instanceId }) => told.has(instanceId))
  }
  await waitUntil(
    () => isCalledBack() || undefined,
    () => `not all callbacks came: ${receiver.received.length} of ${approved.length}`,
  )
  const pending = await waitUntil(
    async () => {
      const { messages } = objectOf(await ask(tidegate.url, { path: '/outbox?state=pending' }))
      return (messages as unknown[]).length === 0 ? [] : undefined
    },
    () => 'callbacks are still pending',
  )
  expect(pending).toEqual([])
  // One decision is one message, however often it had to be sent.
  const ids = new Map(
    receiver.received.map(({ webhookId, body }) => [webhookId, body['approvalGateInstanceId']]),
  )
  expect(new Set(ids.values()).size).toBe(ids.size)
  await tidegate.end('SIGTERM')
}

async function expectKept(
  tidegate: TidegateProcess,
  { executionId, instanceId, isApproved }: Want,
): Promise<void> {
  const found = objectOf(await ask(tidegate.url, { path: `/approvalGateInstances/${String(instanceId)}` }))
  expect(found).toMatchObject({ id: instanceId, executionId })
  if (isApproved) expect(found).toMatchObject({ status: 'approved', reviews: [{ person: 'bo' }] })
  const { instances } = objectOf(
    await ask(tidegate.url, { path: `/approvalGateInstances?execution=${executionId}` }),
  )
  expect(instances).toHaveLength(1)
}

function start(): Promise<TidegateProcess> {
  return startTidegate({
    workspace,
    directories: [],
    config: {
      policies: { bundles: [join(workspace.path, 'bundle.tar.gz')] },
      callbacks: { allowLoopback: true, firstRetrySeconds: 1 },
      gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
      decisions: { enabled: false },
    },
  })
}

/** Triggers and approves, repeating unacknowledged requests, until the process stops answering. */
async function work(tidegate: TidegateProcess, name: string): Promise<void> {
  const left = wants.filter(({ isApproved }, index) => !isApproved && index % WORKERS === Number(name.at(-1)))
  for (let turn = 0; ; turn++) {
    const want = left[turn] ?? { executionId: `${name}-${turn}` }
    if (turn >= left.length) wants.push(want)
    const isDone = await attempt(tidegate.url, want)
    if (!isDone) return
  }
}

/**
 * Whether both steps were acknowledged. A trigger is sent until it is answered, and not afterwards:
 * that would start the stage again.
 */
async function attempt(url: string, want: Want): Promise<boolean> {
  try {
    want.instanceId ??= await trigger(url, want.executionId)
    const review = { action: 'approve', comment: 'ok' }
    const reviewed = await send(url, 'PUT', `/approvalGateInstances/${want.instanceId}/review`, review)
    // A conflict says that the answer to an earlier approval was lost, not the approval.
    expect([200, 409]).toContain(reviewed.status)
    want.isApproved = true
    acknowledged += 1
    return true
  } catch (raw) {
    if (raw instanceof Error && 'code' in raw) return false
    throw raw
  }
}

async function trigger(url: string, executionId: string): Promise<number> {
  const body = {
    executionId,
    approvalCallbackURL: `${receiver.url}/yes`,
    rejectionCallbackURL: `${receiver.url}/no`,
    toolConnectorParameters: '',
    imageIds: '',
    connectorType: '',
  }
  const triggered = await send(url, 'POST', '/approvalGates/7/trigger', body)
  acknowledged += 1
  return Number(objectOf(triggered)['id'])
}

function send(url: string, method: string, path: string, value: unknown) {
  const headers = { 'content-type': 'application/json', 'x-spinnaker-user': method === 'PUT' ? 'bo' : 'ana' }
  return ask(url, { method, path, body: JSON.stringify(value), headers })
}
