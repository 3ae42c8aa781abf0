import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { startReceiver } from '../callback-receiver.js'
import type { CallbackReceiver, ReceivedCallback } from '../callback-receiver.js'
import { ask, objectOf, postJson } from '../http-client.js'
import type { Answered } from '../http-client.js'
import { startTidegate } from '../tidegate-process.js'
import type { ServeSettings, TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'
import type { Workspace } from '../workspace.js'
import { postgresPrograms } from './postgres-programs.js'
import { createDatabase, startPostgres } from './postgres-server.js'
import type { PostgresServer } from './postgres-server.js'
import { storeSection } from './store-section.js'

export const POLICY = 'package app\n\nimport rego.v1\n\nallow if input.ok\n'
export const GATE = { id: 7, name: 'Release', application: 'shop', timeToLiveMinutes: 60 }
export const DECISION = { input: { ok: true } }

/** How one service is started otherwise than the others. */
interface ReplicaStart {
  readonly name?: string
  readonly nodeArgs?: readonly string[]
  /** Its path to the database, if it differs from that of the others. */
  readonly database?: Partial<PostgresSettings>
  /** More sections of its configuration. */
  readonly config?: ServeSettings['config']
}

/** Services over one PostgreSQL, with a separate database for each test. */
export interface Replicas {
  readonly start: (how?: ReplicaStart) => Promise<TidegateProcess>
  readonly server: () => PostgresServer
  readonly database: () => PostgresSettings
  readonly receiver: () => CallbackReceiver
  readonly callbacksOf: (executionId: string) => readonly ReceivedCallback[]
}

/**
 * One server with its own settings for all tests of a file. Services started in a test end with it.
 * Nothing is started if PostgreSQL is not installed.
 */
export function useReplicas(more: Readonly<Record<string, string>> = {}): Replicas {
  let server: PostgresServer
  let receiver: CallbackReceiver
  let settings: PostgresSettings
  let databases = 0
  const started: { readonly tidegate: TidegateProcess; readonly workspace: Workspace }[] = []
  if (postgresPrograms() !== undefined) {
    beforeAll(async () => {
      server = await startPostgres(more)
      receiver = await startReceiver()
    })
    beforeEach(async () => {
      settings = await createDatabase(server.settings, `several_${++databases}`)
    })
    afterEach(async () => {
      for (const { tidegate, workspace } of started.splice(0)) {
        if (tidegate.isRunning()) await tidegate.end('SIGTERM')
        workspace.remove()
      }
    })
    afterAll(async () => {
      await receiver.close()
      await server.remove()
    })
  }
  return {
    start: async (how) => {
      const workspace = makeWorkspace({ 'policies/app.rego': POLICY })
      const tidegate = await startReplica(workspace, settings, how)
      started.push({ tidegate, workspace })
      return tidegate
    },
    server: () => server,
    database: () => settings,
    receiver: () => receiver,
    callbacksOf: (executionId) => receiver.received.filter(({ path }) => path.startsWith(`/${executionId}/`)),
  }
}

function startReplica(
  workspace: Workspace,
  settings: PostgresSettings,
  { name, nodeArgs = [], database, config }: ReplicaStart = {},
): Promise<TidegateProcess> {
  return startTidegate({
    workspace,
    nodeArgs,
    config: {
      ...config,
      store: {
        ...storeSection(workspace, { ...settings, ...database }),
        ...(name !== undefined && { replica: name }),
      },
      callbacks: { allowLoopback: true, firstRetrySeconds: 1 },
      gates: { definitions: [GATE] },
    },
  })
}

/** Triggers the gate for an execution. */
export function trigger(
  { url }: TidegateProcess,
  executionId: string,
  receiverUrl: string,
): Promise<Answered> {
  return postJson(url, '/approvalGates/7/trigger', {
    executionId,
    imageIds: 'a',
    toolConnectorParameters: 'none',
    connectorType: 'JIRA',
    approvalCallbackURL: `${receiverUrl}/${executionId}/yes`,
    rejectionCallbackURL: `${receiverUrl}/${executionId}/no`,
  })
}

/** The number of the instance that a trigger was answered with. */
export function idOf(answer: Answered): number {
  return Number(objectOf(answer)['id'])
}

/** The state of an instance, as reported by one service. */
export async function statusAt({ url }: TidegateProcess, id: number): Promise<unknown> {
  return objectOf(await ask(url, { path: `/approvalGateInstances/${id}/status` }))['status']
}

/** Approves an instance at one service. */
export async function approve({ url }: TidegateProcess, id: number): Promise<void> {
  const body = JSON.stringify({ action: 'approve', comment: 'fine' })
  const headers = { 'content-type': 'application/json', 'x-spinnaker-user': 'bo' }
  const answer = await ask(url, { method: 'PUT', path: `/approvalGateInstances/${id}/review`, headers, body })
  expect(answer).toMatchObject({ status: 200 })
}
