import { saveGateChanges } from '../../src/gates/definitions/declare-gates.js'
import type { Gate } from '../../src/store/ports/gate.js'
import { reviewInstance } from '../../src/gates/reviewing/review-instance.js'
import { triggerGate } from '../../src/gates/triggering/trigger-gate.js'
import type { Writer } from '../../src/store/ports/transaction.js'
import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { SERVICE_OPERATIONS } from '../../test/support/store-operations.js'

const BATCH = 1000
const ORIGIN = 'bench'

export interface FillOptions {
  readonly dataDir: string
  readonly instances: number
  readonly callbackUrl: string
  /** When they were triggered; now where absent. */
  readonly nowMs?: number
}

export const BENCH_GATE = { id: 7, name: 'Release', application: 'shop' }

/** Makes a store with instances of one gate that wait for decisions. */
export async function fillStore({ dataDir, ...what }: FillOptions): Promise<void> {
  const { writer, close } = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  await fillInstances(writer, what)
  await close()
}

/** Makes the instances in a store that is open, through the operations of the service itself. */
export async function fillInstances(
  writer: Writer,
  { instances, callbackUrl, nowMs = Date.now() }: Omit<FillOptions, 'dataDir'>,
): Promise<void> {
  await writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: benchGate(nowMs) }])
  await inBatches(instances, (index) =>
    writer.run(triggerGate, triggerOf(`filled-${index}`, callbackUrl, nowMs)),
  )
}

/** Approves the first instances, so that as many callbacks wait to be sent. */
export async function approveInstances(dataDir: string, count: number): Promise<void> {
  const { writer, close } = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  await inBatches(count, (index) => {
    const attempt = {
      person: 'bo',
      action: 'approve',
      comment: 'ok',
      groups: [],
      timeMs: Date.now(),
    } as const
    return writer.run(reviewInstance, { instanceId: index + 1, attempt, origin: ORIGIN })
  })
  await close()
}

async function inBatches(count: number, act: (index: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += BATCH) {
    const size = Math.min(BATCH, count - first)
    await Promise.all(Array.from({ length: size }, (_, index) => act(first + index)))
  }
}

function benchGate(nowMs: number): Gate {
  return {
    ...BENCH_GATE,
    connectors: [],
    approvers: { users: [], groups: [] },
    approvals: 1,
    triggererMayApprove: false,
    timeToLiveMinutes: 1440,
    origin: 'configuration',
    isEnabled: true,
    createdMs: nowMs,
    changedMs: nowMs,
  }
}

function triggerOf(executionId: string, callbackUrl: string, nowMs: number) {
  return {
    gateId: BENCH_GATE.id,
    executionId,
    approvalCallbackUrl: callbackUrl,
    rejectionCallbackUrl: callbackUrl,
    body: JSON.stringify(triggerBody(executionId, callbackUrl)),
    asksForEvidence: false,
    triggeredBy: 'ana',
    triggerToken: undefined,
    actor: { user: 'ana', origin: ORIGIN, nowMs },
  }
}

/** The body of a trigger in the words of the contract. */
export function triggerBody(executionId: string, callbackUrl: string): object {
  return {
    approvalCallbackURL: callbackUrl,
    rejectionCallbackURL: callbackUrl,
    executionId,
    toolConnectorParameters: '',
    imageIds: 'registry.example.org/shop:1.2.3',
    connectorType: 'JIRA',
  }
}
