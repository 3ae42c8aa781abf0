import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'

import { loadConfig } from '../../src/config/load-config.js'
import { servedAddresses } from '../../src/config/sections/served-addresses.js'
import { openWorkers } from '../../src/main/open-workers.js'
import type { WorkersDeps } from '../../src/main/open-workers.js'
import { nopDecisionLog } from '../../src/decisions/decision-log.js'
import { makeServiceMetrics } from '../../src/http/pipeline/service-metrics.js'

const folder = mkdtempSync(join(tmpdir(), 'tidegate-test-'))

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

test('what listens for workers is closed where they cannot be started', async () => {
  vi.stubEnv('TMPDIR', folder)
  const dataDir = join(folder, 'data')
  const config = loadConfig({ env: { TIDEGATE_SERVER_WORKERS: '2', TIDEGATE_DATA_DIR: dataDir } })
  // Nothing can be made in a file.
  writeFileSync(dataDir, '')
  const deps: Pick<WorkersDeps, 'config' | 'metrics'> = {
    config,
    metrics: makeServiceMetrics(nopDecisionLog),
  }
  const workers = openWorkers(deps as WorkersDeps)
  const shared = servedAddresses(config.server).map((served) => ({ served, listener: createServer() }))
  const served = workers.serve(
    shared,
    () => undefined,
    () => undefined,
  )
  await expect(served).rejects.toThrow('ENOTDIR')
  expect(readdirSync(folder)).toHaveLength(2)
  await workers.stop(0).catch(() => undefined)
  expect(readdirSync(folder)).toEqual(['data'])
})
