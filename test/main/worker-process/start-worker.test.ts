import { expect, test } from 'vitest'

import { loadConfig } from '../../../src/config/load-config.js'
import { ProcessLink } from '../../../src/lib/processes/process-link.js'
import { makeWorkerCalls } from '../../../src/main/worker-process/start-worker.js'
import type { MainCalls, SentPolicies, WorkerCalls } from '../../../src/main/worker-pool/worker-calls.js'
import { toPortable } from '../../../src/rego/slow/portable-snapshot.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'

/** A worker process whose main process never answers. */
function makeWorker(): WorkerCalls {
  const silent = { onMessage: () => undefined, onGone: () => undefined, send: () => undefined }
  return makeWorkerCalls(() => new ProcessLink<MainCalls>(silent, {}))
}

async function load(version: number): Promise<Snapshot> {
  return await loadPolicies({ 'app.rego': `package app\n\nimport rego.v1\n\nversion := ${version}\n` })
}

async function sentPolicies(): Promise<(id: number) => SentPolicies> {
  const snapshot = await load(1)
  const { base, root, bytes } = snapshot.image
  return (id) => ({
    ...{ id, image: { base, root, content: bytes } },
    snapshot: toPortable(snapshot, () => 1),
  })
}

test('policies loaded during the start of a worker process are ready after it', async () => {
  const sent = await sentPolicies()
  const config = loadConfig({ env: { TIDEGATE_DECISIONS_ENABLED: 'false', TIDEGATE_LOG_LEVEL: 'silent' } })
  const settings = { config, addresses: [], tls: undefined, relaySocket: '/nowhere', processes: 2 }
  const worker = makeWorker()
  const starting = worker.start({ settings, policies: sent(1) })
  await worker.load(sent(2))
  await worker.activate(2)
  await starting
  await worker.stop(0)
})

test('a worker process that was not started throws an error', async () => {
  await expect(makeWorker().flush()).rejects.toMatchObject({ kind: 'internal' })
})
