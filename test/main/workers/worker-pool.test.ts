import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

import type { Logger } from '../../../src/lib/logger.js'
import type { ThreadDeath } from '../../../src/lib/threads/supervised-thread.js'
import { WorkerPool } from '../../../src/main/workers/worker-pool.js'
import type { WorkerPoolOptions } from '../../../src/main/workers/worker-pool.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

/** A worker that does at once whatever it is asked, until its channel ends. */
const WORKER = `
process.on('message', ({ type, id }) => {
  if (type === 'call') process.send({ type: 'result', id, value: [] })
})
process.on('disconnect', () => process.exit())
`
const workspace = makeWorkspace({ 'worker.mjs': WORKER })
let pool: WorkerPool | undefined

afterEach(async () => {
  await pool?.stop(0)
  workspace.remove()
})

test('a worker for which the machine has no room now is started later', async () => {
  const died: ThreadDeath[] = []
  let forks = 0
  const options = {
    count: 1,
    fork: (): ChildProcess => {
      forks += 1
      if (forks === 1) throw new Error('spawn ENOMEM')
      return fork(join(workspace.path, 'worker.mjs'), [], { serialization: 'advanced' })
    },
    settings: () => ({}),
    policies: { latest: {} },
    callsFor: () => ({ calls: {}, ended: () => undefined }),
    listeners: [],
    logger: { info: () => undefined, error: () => undefined } as unknown as Logger,
    died: (death: ThreadDeath) => void died.push(death),
  }
  const started = new WorkerPool(options as unknown as WorkerPoolOptions)
  pool = started
  await waitUntil(
    () => started.missing === 0 || undefined,
    () => 'no worker serves',
  )
  expect(died.map(({ reason }) => reason)).toEqual(['spawn ENOMEM'])
})
