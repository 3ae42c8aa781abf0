import { afterEach, describe, expect, test } from 'vitest'

import { readDefinitionFiles } from '../../../src/main/files/read-definition-files.js'
import { makeWorkspace } from '../../support/workspace.js'
import type { Workspace } from '../../support/workspace.js'

const made: Workspace[] = []
afterEach(() => {
  for (const workspace of made.splice(0)) workspace.remove()
})

function directoryWith(files: Readonly<Record<string, string>>): string {
  const workspace = makeWorkspace(files)
  made.push(workspace)
  return workspace.path
}

const YAML = 'metrics:\n  source: prom\n  template: app-metric\n'
const JSON_TEXT = '{"logs": {"source": "loki"}}'

describe('the files of definitions', () => {
  test('define the application that each is named after', async () => {
    const directory = directoryWith({ 'shop.yaml': YAML, 'bank.v2.json': JSON_TEXT, 'README.md': '# Ours' })
    const definitions = await readDefinitionFiles(directory)
    expect(definitions).toMatchObject([
      { application: 'bank.v2', definition: { logs: { source: 'loki' }, lifetimeMinutes: 30 } },
      { application: 'shop', definition: { metrics: { template: 'app-metric' } } },
    ])
  })

  test('that are wrong have a problem each, with the name of the file', async () => {
    const directory = directoryWith({
      'bank.json': '{"lifetimeMinutes": 0}',
      'cart.yaml': 'metrics: [',
      'shop.json': JSON_TEXT,
      'shop.yaml': YAML,
      'till.json': '{"metrics": {"source": "prom", "canaryConfig": {"metrics": [{"name": "errors"}]}}}',
    })
    const files = await readDefinitionFiles(directory)
    expect(files.filter(({ definition }) => definition !== undefined)).toMatchObject([
      { application: 'shop', definition: { logs: { source: 'loki' } } },
    ])
    const message = files.map(({ problem }) => problem).join('\n')
    for (const part of [
      'bank.json: the definition is not valid: lifetimeMinutes must be at least 0.05',
      'cart.yaml: the document is neither JSON nor YAML',
      'shop.yaml: another file defines shop, too',
      'till.json: these queries cannot be built: metric errors: query is required',
    ]) {
      expect(message).toContain(part)
    }
  })

  test('must have a directory that is there', async () => {
    await expect(readDefinitionFiles('/nowhere/at/all')).rejects.toMatchObject({
      message: expect.stringContaining('analysis.definitions cannot be read') as string,
    })
  })
})
