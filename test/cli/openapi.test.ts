import { afterAll, expect, test } from 'vitest'

import { openApiOperations } from '../support/openapi/operations.js'
import { runTidegate } from '../support/run-tidegate.js'
import { servedRoutes } from '../support/served-routes.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'root.yaml':
    'server:\n  publicUrl: https://tidegate.example.org\norchestrator:\n  eventsAtRoot: true\n  gateUrl: http://127.0.0.1:9\n',
})
afterAll(workspace.remove)
const { path: cwd } = workspace

test('openapi prints the document of all routes', async () => {
  const { exitCode, stdout, stderr } = await runTidegate(['openapi'], { cwd })
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(openApiOperations(JSON.parse(stdout))).toHaveLength(servedRoutes().length)
})

test('openapi describes the service that the configuration makes', async () => {
  const { stdout } = await runTidegate(['openapi', '--config', 'root.yaml'], { cwd })
  const document = JSON.parse(stdout) as { servers: unknown; paths: Record<string, { post?: object }> }
  expect(document.servers).toEqual([{ url: 'https://tidegate.example.org' }])
  expect(document.paths['/']?.post).toMatchObject({ tags: ['events'] })
})

test('openapi --table prints the same as a table for documents', async () => {
  const { stdout } = await runTidegate(['openapi', '--table'], { cwd })
  expect(stdout.split('\n')[0]).toBe('| route | role | description |')
  expect(stdout).toContain('| `GET /health` | anyone | ')
  expect(stdout.trim().split('\n')).toHaveLength(servedRoutes().length + 2)
})
