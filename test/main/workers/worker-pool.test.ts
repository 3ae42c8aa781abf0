import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'

import type { Logger } from '../../../src/lib/logger.js'
import type { ThreadDeath } from '../../../src/lib/threads/supervised-thread.js'
import { WorkerPool } from '../../../src/main/workers/worker-pool.js'
import type { PolicySender } from '../../../src/main/workers/sent-policies.js'
import type { SentPolicies } from '../../../src/main/workers/worker-calls.js'
import type { WorkerPoolOptions } from '../../../src/main/workers/worker-pool.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

/** A worker that does at once whatever it is asked, but for one thing that it is told of, until its channel ends. */
const WORKER = `
process.on('message', ({ type, id, name }) => {
  if (type === 'call' && name !== process.argv[2]) process.send({ type: 'result', id, value: [] })
  if (name !== 'figures') console.log(name)
})
process.on('disconnect', () => process.exit())
`
const workspace = makeWorkspace({ 'worker.mjs': WORKER })
let pool: WorkerPool | undefined

const LOOK_MS = 5000
const SNAPSHOT = {} as Snapshot

afterEach(async () => {
  vi.useRealTimers()
  await pool?.stop(0)
})

afterAll(() => workspace.remove())

test('a worker for which the machine has no room now is started later', async () => {
  let forks = 0
  const { started, died } = startPool(() => {
    forks += 1
    if (forks === 1) throw new Error('spawn ENOMEM')
    return forkWorker()
  })
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['spawn ENOMEM'])
})

test('a worker that answers no more is told as missing, then ended, and another takes its place', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { started, died } = startPool(() => forkWorker('figures'))
  await untilAllServe(started)
  vi.advanceTimersByTime(LOOK_MS)
  expect(started.missing).toBe(0)
  vi.advanceTimersByTime(LOOK_MS)
  expect(started.missing).toBe(1)
  vi.advanceTimersByTime(5 * LOOK_MS)
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['SIGKILL'])
})

test('a worker that does not come to serve is ended after two minutes, and another takes its place', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  let forks = 0
  const { started, died } = startPool(() => forkWorker((forks += 1) === 1 ? 'start' : ''))
  vi.advanceTimersByTime(24 * LOOK_MS)
  expect(forks).toBe(1)
  vi.advanceTimersByTime(LOOK_MS)
  await untilAllServe(started)
  expect(died.map(({ reason }) => reason)).toEqual(['SIGKILL'])
})

test('a save does not wait for a worker that stands still while it starts', async () => {
  const { started } = startPool(() => forkWorker('start'))
  await started.load(SNAPSHOT)
  expect(started.missing).toBe(1)
})

test('a worker whose start a save has overtaken gets what was saved before it takes requests', async () => {
  const asked: string[] = []
  const { started } = startPool(() => {
    const child = forkWorker()
    child.stdout?.on('data', (names: Buffer) => asked.push(...String(names).trim().split('\n')))
    return child
  })
  await started.load(SNAPSHOT)
  await untilAllServe(started)
  await waitUntil(
    () => asked.length >= 4 || undefined,
    () => asked.join(),
  )
  expect(asked).toEqual(['start', 'load', 'activate', 'listen'])
})

test('a worker that answers is left alone', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { started, died } = startPool(() => forkWorker())
  await untilAllServe(started)
  for (let look = 0; look < 10; look += 1) {
    vi.advanceTimersByTime(LOOK_MS)
    await started.figures()
    expect(started.missing).toBe(0)
  }
  expect(died).toEqual([])
})

test('a worker that has kept figures waiting for a second keeps them for a tenth of one, until it answers', async () => {
  let child: ChildProcess | undefined
  const { started } = startPool(() => (child = forkWorker()))
  await untilAllServe(started)
  child?.kill('SIGSTOP')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  for (const waitMs of [1000, 100]) {
    let answered = false
    const asked = started.figures().then(() => (answered = true))
    await vi.advanceTimersByTimeAsync(waitMs - 1)
    expect(answered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await asked
  }
  vi.useRealTimers()
  child?.kill('SIGCONT')
  await waitUntil(
    async () => (await started.figures()).length === 2 || undefined,
    () => 'the worker does not answer',
  )
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
