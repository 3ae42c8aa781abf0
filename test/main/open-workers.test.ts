import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'

import { loadConfig } from '../../src/config/load-config.js'
import { servedAddresses } from '../../src/config/sections/served-addresses.js'
import { openWorkers } from '../../src/main/open-workers.js'
import type { WorkersDeps } from '../../src/main/open-workers.js'
import { makeServerLimits } from '../../src/http/server.js'
import { makeServiceMetrics } from '../../src/http/metrics/service-metrics.js'

const folder = mkdtempSync(join(tmpdir(), 'tidegate-test-'))

afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

test('the relay is closed if worker processes cannot be started', async () => {
  const dataDir = join(folder, 'data')
  const config = loadConfig({ env: { TIDEGATE_SERVER_WORKERS: '2', TIDEGATE_DATA_DIR: dataDir } })
  const policies = {
    get current(): never {
      throw new Error('there are none')
    },
  }
  const deps = { config, metrics: makeServiceMetrics(), policies }
  const workers = openWorkers(deps as unknown as WorkersDeps)
  const shared = servedAddresses(config.server).map((served) => ({ served, listener: createServer() }))
  const served = workers.serve(
    shared,
    { handle: () => undefined, limits: makeServerLimits(0) },
    () => undefined,
  )
  await expect(served).rejects.toThrow('there are none')
  expect(readdirSync(join(dataDir, 'workers'))).toHaveLength(1)
  await workers.stop(0)
  expect(readdirSync(dataDir)).toEqual([])
})
