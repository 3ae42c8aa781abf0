import { join } from 'node:path'

import { expect, onTestFinished, test } from 'vitest'

import { defineFromFiles, watchDefinitions } from '../../../src/main/files/watch-definitions.js'
import { makeLogger } from '../../../src/lib/logger.js'
import { START_MS } from '../../support/analyses.js'
import { useServiceStore } from '../../support/service-store.js'
import { makeWorkspace } from '../../support/workspace.js'

const openStore = useServiceStore()
const lines: string[] = []
const logger = makeLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) })
const LOGS = '{"logs": {"source": "loki"}}'

test('changed definitions are used without a restart, and a wrong one is shown until it is right', async () => {
  const store = await openStore()
  const workspace = makeWorkspace({ 'd/shop.json': '{"lifetimeMinutes": 0}', 'd/bank.json': LOGS })
  onTestFinished(workspace.remove)
  const directory = join(workspace.path, 'd')
  const definitions = await watchDefinitions({
    directory: () => directory,
    define: () => defineFromFiles(directory, store, START_MS, () => undefined),
    logger,
  })
  onTestFinished(definitions.stop)
  const names = async (): Promise<string[]> =>
    (await store.lookups.analysis.definitions()).map(({ application }) => application)
  expect(await names()).toEqual(['bank'])
  expect(definitions.health.isUp()).toBe(true)
  expect(definitions.health.warning?.()).toContain('1 of the files in analysis.definitions cannot be used')
  expect(lines.join('')).toContain('shop.json: the definition is not valid')
  workspace.write({ 'd/shop.json': LOGS, 'd/till.json': LOGS })
  await definitions.check()
  expect(await names()).toEqual(['bank', 'shop', 'till'])
  expect(definitions.health.warning?.()).toBeUndefined()
})

test('a directory that is not there keeps nothing from starting', async () => {
  const store = await openStore()
  const definitions = await watchDefinitions({
    directory: () => '/nowhere/at/all',
    define: () => defineFromFiles('/nowhere/at/all', store, START_MS, () => undefined),
    logger,
  })
  onTestFinished(definitions.stop)
  expect(definitions.health.warning?.()).toContain('cannot be used')
})
