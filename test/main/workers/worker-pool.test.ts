import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'

import type { Logger } from '../../../src/lib/logger.js'
import type { ThreadDeath } from '../../../src/lib/threads/supervised-thread.js'
import { WorkerPool } from '../../../src/main/workers/worker-pool.js'
import type { WorkerPoolOptions } from '../../../src/main/workers/worker-pool.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

/** A worker that does at once whatever it is asked, but for one thing that it is told of, until its channel ends. */
const WORKER = `
process.on('message', ({ type, id, name }) => {
  if (type === 'call' && name !== process.argv[2]) process.send({ type: 'result', id, value: [] })
})
process.on('disconnect', () => process.exit())
`
const workspace = makeWorkspace({ 'worker.mjs': WORKER })
let pool: WorkerPool | undefined

const LOOK_MS = 5000

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
  return fork(join(workspace.path, 'worker.mjs'), [silentAbout], { serialization: 'advanced' })
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
    policies: { latest: {} },
    callsFor: () => ({ calls: {}, ended: () => undefined }),
    listeners: [],
    logger: { info: () => undefined, error: () => undefined } as unknown as Logger,
    died: (death: ThreadDeath) => void died.push(death),
  }
  const started = new WorkerPool(options as unknown as WorkerPoolOptions)
  pool = started
  return { started, died }
}

async function untilAllServe(workers: WorkerPool): Promise<void> {
  await waitUntil(
    () => workers.missing === 0 || undefined,
    () => 'no worker serves',
  )
}
