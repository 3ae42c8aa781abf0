import { afterEach, expect, test } from 'vitest'

import { defineAnalysis } from '../../../src/analysis/runs/define-analysis.js'
import { defineFromFiles } from '../../../src/main/files/watch-definitions.js'
import { START_MS } from '../../support/analyses.js'
import { useServiceStore } from '../../support/service-store.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

const openStore = useServiceStore()
const made: Workspace[] = []
afterEach(() => {
  for (const workspace of made.splice(0)) workspace.remove()
})

const noWarning = (application: string, warning: string): never => {
  throw new Error(`${application}: ${warning}`)
}
const LOGS = '{"logs": {"source": "loki"}}'

function directoryWith(files: Readonly<Record<string, string>>): string {
  const workspace = makeWorkspace(files)
  made.push(workspace)
  return workspace.path
}

test('definitions from files live as long as the files, and those sent over HTTP stay', async () => {
  const store = await openStore()
  const definitions = async (): Promise<string[]> =>
    (await store.lookups.analysis.definitions()).map(({ application, origin }) => `${application} ${origin}`)
  const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }
  await defineAnalysis(
    store,
    { application: 'cart', document: JSON.parse(LOGS) as unknown, origin: 'api' },
    actor,
  )
  await defineFromFiles(directoryWith({ 'bank.json': LOGS, 'shop.json': LOGS }), store, START_MS, noWarning)
  expect(await definitions()).toEqual(['bank configuration', 'cart api', 'shop configuration'])
  await defineFromFiles(directoryWith({ 'shop.json': LOGS }), store, START_MS, noWarning)
  expect(await definitions()).toEqual(['cart api', 'shop configuration'])
  await defineFromFiles(undefined, store, START_MS, noWarning)
  expect(await definitions()).toEqual(['cart api'])
})

test('a wrong file does not affect others, and its previous definition stays', async () => {
  const store = await openStore()
  const names = async (): Promise<string[]> =>
    (await store.lookups.analysis.definitions()).map(({ application }) => application)
  await defineFromFiles(directoryWith({ 'shop.json': LOGS }), store, START_MS, noWarning)
  const directory = directoryWith({
    'bank.json': LOGS,
    'shop.json': '{"lifetimeMinutes": 0}',
    'till.json': '[',
  })
  expect(await defineFromFiles(directory, store, START_MS, noWarning)).toEqual([
    expect.stringContaining('shop.json: the definition is not valid') as string,
    expect.stringContaining('till.json: the document is neither JSON nor YAML') as string,
  ])
  expect(await names()).toEqual(['bank', 'shop'])
})

test('nothing changes where the directory cannot be read', async () => {
  const store = await openStore()
  await defineFromFiles(directoryWith({ 'shop.json': LOGS }), store, START_MS, noWarning)
  await expect(defineFromFiles('/nowhere/at/all', store, START_MS, noWarning)).rejects.toMatchObject({
    kind: 'invalid',
  })
  expect(await store.lookups.analysis.definitions()).toHaveLength(1)
})

test('an unknown name in a canary config is reported but not refused', async () => {
  const store = await openStore()
  const query = { customInlineTemplate: 'PromQL:up' }
  const canaryConfig = {
    metrics: [{ name: 'up', query, analysisConfigurations: { canary: { criticl: true } } }],
  }
  const definition = JSON.stringify({ metrics: { source: 'prom', canaryConfig } })
  const told: string[] = []
  const warn = (application: string, warning: string): void => void told.push(`${application}: ${warning}`)
  await defineFromFiles(directoryWith({ 'shop.json': definition }), store, START_MS, warn)
  expect(told).toEqual([
    'shop: metrics[0].analysisConfigurations.canary.criticl is not known and does nothing: did you mean critical?',
  ])
  expect(await store.lookups.analysis.definitions()).toHaveLength(1)
})
