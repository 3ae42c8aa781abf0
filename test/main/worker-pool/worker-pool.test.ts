import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'

import type { Logger } from '../../../src/lib/logger.js'
import type { ThreadDeath } from '../../../src/lib/threads/supervised-thread.js'
import { WorkerPool } from '../../../src/main/worker-pool/worker-pool.js'
import type { PolicySender } from '../../../src/main/worker-pool/policy-sender.js'
import type { SentPolicies } from '../../../src/main/worker-pool/worker-calls.js'
import type { WorkerPoolOptions } from '../../../src/main/worker-pool/worker-pool.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

/** Answers every call except the one named by its argument, until its channel ends. */
const WORKER = `
process.on('message', ({ type, id, name }) => {
  if (type === 'call' && name !== process.argv[2]) process.send({ type: 'result', id, value: [] })
  if (name !== 'metrics') console.log(name)
})
process.on('disconnect', () => process.exit())
`
const workspace = makeWorkspace({ 'worker.mjs': WORKER })
let pool: WorkerPool | undefined

const CHECK_MS = 5000
const SNAPSHOT = {} as Snapshot

afterEach(async () => {
  vi.useRealTimers()
  await pool?.stop(0)
})

afterAll(() => workspace.remove())

test('a worker process that cannot be forked is started later', async () => {
  let forks = 0
  const { started, died } = startPool(() => {
    forks += 1
    if (forks === 1) throw new Error('spawn ENOMEM')
    return forkWorker()
  })
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['spawn ENOMEM'])
})

test('a worker process that stops answering counts as missing, then is killed and replaced', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { started, died } = startPool(() => forkWorker('metrics'))
  await untilAllServe(started)
  vi.advanceTimersByTime(CHECK_MS)
  expect(started.missing).toBe(0)
  vi.advanceTimersByTime(CHECK_MS)
  expect(started.missing).toBe(1)
  vi.advanceTimersByTime(5 * CHECK_MS)
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['SIGKILL'])
})

test('a worker process that does not finish its start is killed after two minutes and replaced', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let forks = 0
  const { started, died } = startPool(() => forkWorker((forks += 1) === 1 ? 'start' : ''))
  vi.advanceTimersByTime(24 * CHECK_MS)
  expect(forks).toBe(1)
  vi.advanceTimersByTime(CHECK_MS)
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['SIGKILL'])
})

test('a save does not wait for a worker process that hangs during its start', async () => {
  const { started } = startPool(() => forkWorker('start'))
  await started.load(SNAPSHOT)
  expect(started.missing).toBe(1)
})

test('a worker process that starts during a save gets the saved policies before it accepts requests', async () => {
  const calls: string[] = []
  const { started } = startPool(() => {
    const child = forkWorker()
    child.stdout?.on('data', (names: Buffer) => calls.push(...String(names).trim().split('\n')))
    return child
  })
  await started.load(SNAPSHOT)
  await untilAllServe(started)
  await waitUntil(
    () => calls.length >= 5 || undefined,
    () => calls.join(),
  )
  expect(calls).toEqual(['start', 'load', 'activate', 'except', 'listen'])
})

test('a worker process that answers keeps running', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { started, died } = startPool(() => forkWorker())
  await untilAllServe(started)
  for (let check = 0; check < 10; check += 1) {
    vi.advanceTimersByTime(CHECK_MS)
    await started.metrics()
    expect(started.missing).toBe(0)
  }
  expect(died).toEqual([])
})

test('a worker process that has missed two checks no longer delays the metrics', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { started } = startPool(() => forkWorker('metrics'))
  await untilAllServe(started)
  vi.advanceTimersByTime(2 * CHECK_MS)
  vi.useRealTimers()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  expect(await started.metrics()).toEqual([[]])
})

function forkWorker(silentAbout = ''): ChildProcess {
  return fork(join(workspace.path, 'worker.mjs'), [silentAbout], { serialization: 'advanced', silent: true })
}

function startPool(makeWorker: () => ChildProcess): {
  readonly started: WorkerPool
  readonly died: readonly ThreadDeath[]
} {
  const died: ThreadDeath[] = []
  const options = {
    count: 1,
    fork: makeWorker,
    settings: () => ({}),
    policies: sentPolicies(),
    exceptions: () => [],
    callsFor: () => ({ calls: {}, ended: () => undefined }),
    listeners: [undefined],
    logger: { info: () => undefined, error: () => undefined } as unknown as Logger,
    died: (death: ThreadDeath) => void died.push(death),
  }
  const started = new WorkerPool(options as unknown as WorkerPoolOptions)
  pool = started
  return { started, died }
}

function sentPolicies(): Pick<PolicySender, 'latest' | 'prepare' | 'forgetOlder'> {
  const send = (id: number): SentPolicies => ({ id }) as SentPolicies
  let latest = send(1)
  return {
    get latest() {
      return latest
    },
    prepare: () => Promise.resolve((latest = send(latest.id + 1))),
    forgetOlder: () => Promise.resolve(),
  }
}

async function untilAllServe(workers: WorkerPool): Promise<void> {
  await waitUntil(
    () => workers.missing === 0 || undefined,
    () => 'no worker serves',
  )
}
